import type { Server } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** Time for an idle connection to send one more request, in milliseconds. */
const lingerMs = 1000
const pollMs = 50

/** The open connections of a server, from now on. */
export function connectionsOf(server: Server): ReadonlySet<Socket> {
  const open = new Set<Socket>()
  const event = 'setSecureContext' in server ? 'secureConnection' : 'connection'
  server.on(event, (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
  })
  return open
}

/**
 * Ends a server without dropping a request. Running requests are answered. A client that is just sending on a keep-alive
 * connection gets its answer, and is asked to close the connection. Requests that outlast the grace period are aborted.
 *
 * `server.close()` is not enough: it destroys idle connections at once, including requests that are in transit.
 */
export async function drain(
  server: Server,
  connections: ReadonlySet<Socket>,
  graceMs: number,
): Promise<{ cut: boolean }> {
  const start = performance.now()
  const closed = new Promise<'closed'>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve('closed'))
  })
  for (let elapsed = 0; elapsed < graceMs; elapsed = performance.now() - start) {
    // Node counts a connection as idle although its client has still to read the end of an answer.
    const areWriting = [...connections].some((socket) => socket.writableLength > 0)
    if (elapsed >= lingerMs && !areWriting) server.closeIdleConnections()
    if ((await Promise.race([closed, sleep(pollMs)])) === 'closed') {
      // This ends the timer that looks for slow requests.
      server.close()
      return { cut: false }
    }
  }
  server.closeAllConnections()
  server.close()
  // Each of them still gets its line in the log.
  await sleep(pollMs)
  return { cut: true }
}
