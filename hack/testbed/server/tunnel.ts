import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'

/** Something on the way between a client and a server. */
export interface Between {
  readonly url: string
  close(): void
}

/** A proxy that leads to the server, whatever name is asked for. */
export async function startTunnel(to: string): Promise<Between> {
  const sockets = new Set<Socket>()
  const proxy = createServer()
  proxy.on('connect', (_request, asking: Socket) => {
    asking.write('HTTP/1.1 200 OK\r\n\r\n')
    join(asking, to, sockets)
  })
  return listening(proxy, 'http', sockets)
}

/** Takes TLS off in front of a server that has none, as an ingress does. @param keys PEM */
export async function startTlsFront(
  to: string,
  keys: { readonly cert: string; readonly key: string },
): Promise<Between> {
  const sockets = new Set<Socket>()
  const front = createTlsServer(keys, (asking) => join(asking, to, sockets))
  return listening(front, 'https', sockets)
}

function join(asking: Socket, to: string, sockets: Set<Socket>): void {
  const upstream = connect(Number(new URL(to).port), '127.0.0.1')
  upstream.pipe(asking).pipe(upstream)
  for (const socket of [asking, upstream]) {
    sockets.add(socket)
    socket.on('error', () => {
      asking.destroy()
      upstream.destroy()
    })
  }
}

async function listening(server: Server, scheme: string, sockets: Set<Socket>): Promise<Between> {
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', done)
  })
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
