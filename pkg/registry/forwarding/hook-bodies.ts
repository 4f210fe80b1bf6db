import { RegistryError, unavailable } from '../../base/errors/errors.ts'

interface HookLimits {
  /** Limit of one body. */
  readonly maxBytes: number
  /** Limit of all bodies together. */
  readonly maxHeldBytes: number
}

/** Reads webhooks before they take a place, so that a stranger who sends slowly keeps none. */
export class HookBodies {
  readonly #limits: HookLimits
  #heldBytes = 0

  constructor(limits: HookLimits) {
    this.#limits = limits
  }

  /** @throws RegistryError TooLarge, Unavailable */
  async read<T>({ body }: Request, use: (chunks: readonly Uint8Array[]) => Promise<T>): Promise<T> {
    const { maxBytes, maxHeldBytes } = this.#limits
    const chunks: Uint8Array[] = []
    let bytes = 0
    try {
      for await (const chunk of body ?? []) {
        bytes += chunk.byteLength
        this.#heldBytes += chunk.byteLength
        if (bytes > maxBytes) {
          throw new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
        }
        if (this.#heldBytes > maxHeldBytes) {
          throw unavailable('too many webhooks arrive at once')
        }
        chunks.push(chunk)
      }
      return await use(chunks)
    } finally {
      this.#heldBytes -= bytes
    }
  }
}
