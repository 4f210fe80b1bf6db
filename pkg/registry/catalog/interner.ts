/** Longer keys are as good as never the same, and they should not fill the memory. */
const maxKeyLength = 1_000

/**
 * Gives equal values one identity, so that a thousand rows that say `linux` share one string. Forgets everything when
 * it is full: that costs sharing, never correctness.
 */
export class Interner<T> {
  readonly #values = new Map<string, T>()
  readonly #capacity: number

  /** @param capacity distinct values to remember, default 100,000 */
  constructor(capacity = 100_000) {
    this.#capacity = capacity
  }

  get(key: string, create: () => T): T {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const created = create()
    if (key.length > maxKeyLength) return created
    if (this.#values.size >= this.#capacity) this.#values.clear()
    this.#values.set(key, created)
    return created
  }
}
