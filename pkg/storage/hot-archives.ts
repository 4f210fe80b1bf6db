/** Larger ones gain little: reading a file costs about as much as sending this much. */
const maxArchiveBytes = 256 * 1024
const maxRemembered = 10_000

interface Held {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Since it was last passed over when room was needed. */
  isUsed: boolean
}

/** Small archives that were asked for more than once, in memory within a bound; those go first that were not used lately. */
export class HotArchives {
  readonly #archives = new Map<string, Held>()
  readonly #askedOnce = new Set<string>()
  readonly #limitBytes: number
  #usedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  get(sha256: string): Uint8Array<ArrayBuffer> | undefined {
    const held = this.#archives.get(sha256)
    if (held === undefined) return undefined
    held.isUsed = true
    return held.bytes
  }

  /** Whether an archive that is about to be read should be kept; it has to be asked for a second time. */
  wants(sha256: string, sizeBytes: number): boolean {
    if (sizeBytes === 0 || sizeBytes > Math.min(maxArchiveBytes, this.#limitBytes)) return false
    if (this.#askedOnce.delete(sha256)) return true
    if (this.#askedOnce.size >= maxRemembered) this.#askedOnce.clear()
    this.#askedOnce.add(sha256)
    return false
  }

  /** @param bytes checked, and not used by others */
  put(sha256: string, bytes: Uint8Array<ArrayBuffer>): void {
    if (this.#archives.has(sha256)) return
    for (const [oldest, held] of this.#archives) {
      if (this.#usedBytes + bytes.length <= this.#limitBytes) break
      this.#archives.delete(oldest)
      if (held.isUsed) {
        held.isUsed = false
        this.#archives.set(oldest, held)
      } else this.#usedBytes -= held.bytes.length
    }
    this.#archives.set(sha256, { bytes, isUsed: false })
    this.#usedBytes += bytes.length
  }
}
