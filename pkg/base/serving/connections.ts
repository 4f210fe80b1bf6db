import type { Server } from 'node:http'
import type { Socket } from 'node:net'

export interface ConnectionLimits {
  /** How long a connection may wait for its next request, in milliseconds. It may get an eighth more. */
  readonly keepAliveMs: number
  /** How long a connection with a request under way may go without a byte, in milliseconds. */
  readonly idleMs: number
}

interface Watched {
  /** Requests whose answers are not over. */
  waiting: number
  /** Bytes of both directions when it was last looked at. */
  bytes: number
  /** Since when nothing moves, on the clock of `performance.now()`. */
  quietSince: number
}

/** How often connections are looked at, as a part of the time that they may wait. */
const looksPerWait = 8

/**
 * Closes the connections on which nothing moves. Node by itself sets a timer behind every answer and clears it before the
 * next request, which takes half a microsecond of ten; here all connections are looked at now and then.
 */
export class Connections {
  readonly #limits: ConnectionLimits
  readonly #open = new Map<Socket, Watched>()

  constructor(limits: ConnectionLimits) {
    this.#limits = limits
  }

  /** @param server whose `keepAliveTimeout` is 0 */
  watch(server: Server): void {
    const event = 'setSecureContext' in server ? 'secureConnection' : 'connection'
    server.on(event, (socket: Socket) => this.#add(socket))
    const timer = setInterval(() => this.#look(), this.#limits.keepAliveMs / looksPerWait).unref()
    server.once('close', () => clearInterval(timer))
  }

  /** Whether a client has still to read what was written to it. */
  get areWriting(): boolean {
    for (const socket of this.#open.keys()) if (socket.writableLength > 0) return true
    return false
  }

  /** To be called when a request waits for its answer. @returns a function to be called when that is over */
  hold(socket: Socket): () => void {
    const watched = this.#open.get(socket)
    if (watched === undefined) return () => {}
    watched.waiting += 1
    socket.setTimeout(this.#limits.idleMs)
    return () => {
      watched.waiting -= 1
      if (watched.waiting === 0) socket.setTimeout(0)
    }
  }

  #add(socket: Socket): void {
    this.#open.set(socket, { waiting: 0, bytes: 0, quietSince: performance.now() })
    socket.once('close', () => this.#open.delete(socket))
  }

  #look(): void {
    const now = performance.now()
    for (const [socket, watched] of this.#open) {
      const bytes = socket.bytesRead + socket.bytesWritten
      if (watched.waiting > 0 || bytes !== watched.bytes) {
        watched.bytes = bytes
        watched.quietSince = now
      } else if (now - watched.quietSince >= this.#limits.keepAliveMs) socket.destroy()
    }
  }
}
