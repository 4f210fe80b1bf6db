import { Bounded, keptBytes } from '../../base/memory/memory.ts'

/** Larger ones gain little: reading a file costs about as much as sending this much. */
const maxArchiveBytes = 256 * 1024
const maxRemembered = 10_000

/** Small archives that were asked for more than once, in memory within a bound; those go first that were not used lately. */
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

  /** Whether an archive that is about to be read should be kept; it has to be asked for a second time. */
  wants(sha256: string, sizeBytes: number): boolean {
    if (sizeBytes === 0 || sizeBytes > Math.min(maxArchiveBytes, this.#limitBytes)) return false
    if (this.#askedOnce.delete(sha256)) return true
    if (this.#askedOnce.size >= maxRemembered) this.#askedOnce.clear()
    this.#askedOnce.add(sha256)
    return false
  }

  /** @param bytes checked; a copy is kept */
  put(sha256: string, bytes: Uint8Array<ArrayBuffer>): void {
    this.#archives.getOrMake(sha256, () => keptBytes(bytes))
  }
}
