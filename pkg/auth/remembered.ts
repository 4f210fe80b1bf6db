/**
 * Remembers values for a time, and no more than a number of them: the one that was learned first is forgotten first.
 */
export class Remembered<V> {
  readonly #entries = new Map<string, { readonly value: V; readonly untilMs: number }>()
  readonly #max: number
  readonly #clock: () => number

  /**
   * @param max least 1
   * @param clock milliseconds since 1970
   */
  constructor({ max, clock }: { readonly max: number; readonly clock: () => number }) {
    this.#max = max
    this.#clock = clock
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs > this.#clock()) return entry.value
    this.#entries.delete(key)
    return undefined
  }

  set(key: string, value: V, untilMs: number): void {
    this.#entries.delete(key)
    // What was learned first expires first, or nearly so.
    for (const [first, entry] of this.#entries) {
      if (entry.untilMs > this.#clock() && this.#entries.size < this.#max) break
      this.#entries.delete(first)
    }
    this.#entries.set(key, { value, untilMs })
  }

  clear(): void {
    this.#entries.clear()
  }
}
