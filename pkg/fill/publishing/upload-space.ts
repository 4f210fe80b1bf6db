import type { Spool } from '../../archives/spool/spool.ts'
import { RegistryError } from '../../base/errors/errors.ts'

/** Space for one upload, which grows with what has arrived. */
export interface UploadSpace extends AsyncDisposable {
  readonly path: string
  readonly bytes: number
  /** @throws RegistryError Unavailable */
  grow(bytes: number): Promise<void>
}

const stepBytes = 1024 * 1024

/** Modules and releases of providers fill an eighth of the spool each at most, because fetches share it. */
export class UploadSpaces {
  readonly #spool: Spool
  readonly #makeSpace: () => Promise<boolean>
  #heldBytes = 0

  /** @param makeSpace gives some space back that nobody needs at the moment; false: there is none */
  constructor(spool: Spool, makeSpace: () => Promise<boolean> = async () => false) {
    this.#spool = spool
    this.#makeSpace = makeSpace
  }

  /** @param bytes as far as they are known. @throws RegistryError Unavailable */
  async open(bytes: number, signal: AbortSignal): Promise<UploadSpace> {
    await this.#require(bytes, () => 0)
    const file = await this.#spool.reserve(0, { signal })
    const parts = [file]
    let heldBytes = 0
    return {
      path: file.path,
      get bytes() {
        return heldBytes
      },
      grow: async (wanted) => {
        if (wanted <= heldBytes) return
        const more = Math.ceil((wanted - heldBytes) / stepBytes) * stepBytes
        await this.#require(more, () => heldBytes)
        this.#heldBytes += more
        heldBytes += more
        parts.push(await this.#spool.reserve(more, { signal }))
      },
      [Symbol.asyncDispose]: async () => {
        this.#heldBytes -= heldBytes
        await Promise.all(parts.map((part) => part.remove()))
      },
    }
  }

  /** One upload alone may be larger. */
  async #require(bytes: number, ownBytes: () => number): Promise<void> {
    const limit = this.#spool.sizeBytes / 8
    while (this.#heldBytes !== ownBytes() && this.#heldBytes + bytes > limit) {
      if (await this.#makeSpace()) continue
      throw new RegistryError(
        'Unavailable',
        'other uploads use all the space: send the archive again in a moment',
      )
    }
  }
}
