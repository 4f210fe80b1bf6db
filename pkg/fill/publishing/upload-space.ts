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

/** Publications fill a quarter of the spool at most, because fetches share it. */
export class UploadSpaces {
  readonly #spool: Spool
  #heldBytes = 0

  constructor(spool: Spool) {
    this.#spool = spool
  }

  /** @param bytes as far as they are known. @throws RegistryError Unavailable */
  async open(bytes: number, signal: AbortSignal): Promise<UploadSpace> {
    this.#require(bytes, 0)
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
        this.#require(more, heldBytes)
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
  #require(bytes: number, ownBytes: number): void {
    const isAlone = this.#heldBytes === ownBytes
    if (isAlone || this.#heldBytes + bytes <= this.#spool.sizeBytes / 4) return
    throw new RegistryError(
      'Unavailable',
      'others are publishing as much as there is space for: send the archive again in a moment',
    )
  }
}
