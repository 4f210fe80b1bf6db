import { createServer, request } from 'node:http'

export interface Ingress {
  /** Every path that it sent to the server, past the explorer. */
  readonly toServer: readonly string[]
  stop(): void
}

const ofServer = /^\/(depot|\.well-known|broker|v1\/modules|v1\/providers)(\/|$)/

/** An ingress at a port of its own that splits paths between the server and the explorer, as the chart's does. */
export async function startIngress(
  port: number,
  { server, explorer }: { readonly server: string; readonly explorer: string },
): Promise<Ingress> {
  const toServer: string[] = []
  const front = createServer((incoming, outgoing) => {
    const { method, headers, url = '/' } = incoming
    const isServers = ofServer.test(new URL(url, 'http://ingress').pathname)
    if (isServers) toServer.push(url)
    const asked = request(new URL(url, isServers ? server : explorer), { method, headers })
    asked.on('response', (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    asked.on('error', () => outgoing.destroy())
    incoming.pipe(asked)
  })
  await new Promise<void>((done) => {
    front.listen(port, '127.0.0.1', done)
  })
  return {
    toServer,
    stop() {
      front.closeAllConnections()
      front.close()
    },
  }
}
