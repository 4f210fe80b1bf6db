import { Bounded, keptBytes } from '../../base/memory/memory.ts'

/** Larger archives gain little: to read a file costs about as much as to send this much. */
const maxArchiveBytes = 256 * 1024
const maxRemembered = 10_000

/** Small archives in memory that were requested more than once. The least recently used ones are dropped. */
export class HotArchives {
  readonly #archives: Bounded<Uint8Array<ArrayBuffer>>
  readonly #askedOnce = new Set<string>()
  readonly #limitBytes: number

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
    this.#archives = new Bounded({
      maxBytes: limitBytes,
      sizeOf: ({ buffer }) => buffer.byteLength,
    })
  }

  get(sha256: string): Uint8Array<ArrayBuffer> | undefined {
    return this.#archives.get(sha256)
  }

  /** Whether to keep an archive that is about to be read: it must have been requested before, unless `atOnce`. */
  wants(sha256: string, sizeBytes: number, atOnce = false): boolean {
    if (sizeBytes === 0 || sizeBytes > Math.min(maxArchiveBytes, this.#limitBytes)) return false
    if (atOnce || this.#askedOnce.delete(sha256)) return true
    if (this.#askedOnce.size >= maxRemembered) this.#askedOnce.clear()
    this.#askedOnce.add(sha256)
    return false
  }

  /** @param bytes checked; a copy is kept */
  put(sha256: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#archives.getOrMake(sha256, () => keptBytes(bytes))
  }
}
