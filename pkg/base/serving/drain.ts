import type { Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Connections } from './connections.ts'

/** How long an idle connection is given to send one more request, in milliseconds. */
const lingerMs = 1000
const pollMs = 50

/**
 * Ends a server without dropping a request. A request under way is answered to the end; a client that is just
 * sending on a connection kept alive is answered too, and asked to close it. What is left after the grace period is cut.
 *
 * `server.close()` is not enough: it destroys idle connections at once, and with them requests that are on their way.
 */
export async function drain(
  server: Server,
  connections: Connections,
  graceMs: number,
): Promise<{ cut: boolean }> {
  const start = performance.now()
  const closed = new Promise<'closed'>((resolve) => {
    NetServer.prototype.close.call(server, () => resolve('closed'))
  })
  for (let elapsed = 0; elapsed < graceMs; elapsed = performance.now() - start) {
    // Node takes those for idle, too, whose client has still to read the end of its answer.
    if (elapsed >= lingerMs && !connections.areWriting) server.closeIdleConnections()
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
