/** The content of the cache in order of use, and the space that it takes. */
export class CacheIndex {
  readonly #sizes = new Map<string, number>()
  readonly #limitBytes: number
  #storedBytes = 0
  #reservedBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Size of complete archives. */
  get storedBytes(): number {
    return this.#storedBytes
  }

  sizeOf(sha256: string): number | undefined {
    return this.#sizes.get(sha256)
  }

  used(sha256: string): void {
    const sizeBytes = this.#sizes.get(sha256)
    if (sizeBytes === undefined) return
    this.#sizes.delete(sha256)
    this.#sizes.set(sha256, sizeBytes)
  }

  /**
   * Reserves space for an archive before it is written.
   *
   * @returns the archives to delete for it; undefined if there cannot be enough space
   */
  reserve(sizeBytes: number): string[] | undefined {
    if (this.#reservedBytes + sizeBytes > this.#limitBytes) return undefined
    this.#reservedBytes += sizeBytes
    return this.shrink()
  }

  /** Makes space for reservations. The returned archives are forgotten and must be deleted. */
  shrink(): string[] {
    const evicted: string[] = []
    for (const sha256 of this.#sizes.keys()) {
      if (this.#reservedBytes + this.#storedBytes <= this.#limitBytes) break
      this.remove(sha256)
      evicted.push(sha256)
    }
    return evicted
  }

  release(sizeBytes: number): void {
    this.#reservedBytes -= sizeBytes
  }

  add(sha256: string, sizeBytes: number): void {
    this.remove(sha256)
    this.#sizes.set(sha256, sizeBytes)
    this.#storedBytes += sizeBytes
  }

  remove(sha256: string): void {
    this.#storedBytes -= this.#sizes.get(sha256) ?? 0
    this.#sizes.delete(sha256)
  }
}
