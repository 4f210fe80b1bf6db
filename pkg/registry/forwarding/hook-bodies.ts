import { RegistryError, unavailable } from '../../base/errors/errors.ts'

interface HookLimits {
  /** Limit of one body. */
  readonly maxBytes: number
  /** Limit of all bodies together. */
  readonly maxHeldBytes: number
}

/** A body in memory. */
interface Held {
  chunks: Uint8Array[]
  bytes: number
  isDropped: boolean
  /** Stops reading. */
  readonly cancel: () => void
}

/**
 * Reads webhooks before they get a slot, so that slow senders occupy none. If memory is full, it drops the webhook that has
 * been arriving for the longest time, because code hosts send theirs within a moment.
 */
export class HookBodies {
  readonly #limits: HookLimits
  #heldBytes = 0
  /** Oldest first. */
  readonly #arriving = new Set<Held>()

  constructor(limits: HookLimits) {
    this.#limits = limits
  }

  /** @throws RegistryError TooLarge, Unavailable */
  async read<T>({ body }: Request, use: (chunks: readonly Uint8Array[]) => Promise<T>): Promise<T> {
    const { maxBytes } = this.#limits
    const reader = body?.getReader()
    const cancel = () => void reader?.cancel().catch(() => undefined)
    const held: Held = { chunks: [], bytes: 0, isDropped: false, cancel }
    this.#arriving.add(held)
    try {
      for (;;) {
        const { done, value } = (await reader?.read()) ?? { done: true as const }
        if (held.isDropped) throw unavailable('too many webhooks arrive at once')
        if (done) break
        this.#hold(held, value)
        if (held.bytes > maxBytes) {
          throw new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
        }
      }
      this.#arriving.delete(held)
      return await use(held.chunks)
    } finally {
      cancel()
      this.#release(held)
    }
  }

  /** @throws RegistryError Unavailable if other bodies that have arrived fill the memory */
  #hold(held: Held, chunk: Uint8Array): void {
    held.chunks.push(chunk)
    held.bytes += chunk.byteLength
    this.#heldBytes += chunk.byteLength
    while (this.#heldBytes > this.#limits.maxHeldBytes) {
      const [oldest] = this.#arriving
      if (oldest === undefined || oldest === held) {
        throw unavailable('too many webhooks arrive at once')
      }
      oldest.isDropped = true
      oldest.cancel()
      this.#release(oldest)
    }
  }

  #release(held: Held): void {
    this.#arriving.delete(held)
    this.#heldBytes -= held.bytes
    held.bytes = 0
    held.chunks = []
  }
}
