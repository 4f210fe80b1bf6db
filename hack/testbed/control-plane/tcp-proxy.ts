import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server that can be cut, stalled and slowed down. */
export interface TcpProxy {
  readonly port: number
  readonly connections: number
  /** Ends every connection; new ones work. */
  cut(): void
  /** Drops all traffic without closing connections, as a firewall that lost its state; new connections hang too. */
  stall(stalled: boolean): void
  /** Ends every connection, and new ones at once. */
  refuse(refused: boolean): void
  /** Holds back what the server sends, for this many milliseconds. */
  delay(delayMs: number): void
  close(): Promise<void>
}

/** Listens on a free port of 127.0.0.1 and passes everything on to another one. */
export async function startTcpProxy(targetPort: number): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let stalled = false
  let refused = false
  let delayMs = 0

  const server = createServer((client) => {
    if (refused) {
      client.destroy()
      return
    }
    const upstream = connect(targetPort, '127.0.0.1')
    const pair = [client, upstream] as const
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      client.destroy()
      upstream.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    client.on('data', (bytes) => {
      if (!stalled) upstream.write(bytes)
    })
    upstream.on('data', (bytes) => {
      if (stalled) return
      if (delayMs === 0) client.write(bytes)
      else setTimeout(() => client.write(bytes), delayMs)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  const cut = () => {
    for (const [client] of pairs) client.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return pairs.size
    },
    cut,
    stall(value) {
      // The bytes of a stall are lost, so such a connection can never work again.
      if (stalled && !value) cut()
      stalled = value
    },
    refuse(value) {
      refused = value
      if (refused) cut()
    },
    delay(value) {
      delayMs = value
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
