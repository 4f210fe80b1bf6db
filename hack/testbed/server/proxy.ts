import { createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/**
 * Someone between the CLI and the registry, for one test.
 *
 * @param rewrite gets the path and the body of each answer, and returns the body that the CLI sees
 * @returns the URL of the proxy
 */
export async function startProxy(
  upstream: string,
  rewrite: (path: string, body: Buffer) => Buffer,
): Promise<string> {
  const proxy = createServer((incoming, outgoing) => {
    const { method, headers, url = '' } = incoming
    const asked = request(new URL(url, upstream), { method, headers })
    const passOn = async (answer: IncomingMessage): Promise<void> => {
      const seen = rewrite(url, await buffer(answer))
      const length = method === 'HEAD' ? {} : { 'content-length': seen.length }
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, ...length })
      outgoing.end(seen)
    }
    asked.on('response', (answer) => {
      passOn(answer).catch(() => outgoing.destroy())
    })
    asked.on('error', () => outgoing.destroy())
    asked.end()
  })
  await new Promise<void>((done) => {
    proxy.listen(0, '127.0.0.1', done)
  })
  onTestFinished(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
