import { CappedMap } from '../../base/memory/memory.ts'

/** Longer keys hardly ever repeat, and would fill the memory. */
const maxKeyLength = 1_000

/**
 * Gives equal values one identity, so that a thousand rows that say `linux` share one string. When it is full and forgets
 * them, only sharing is lost.
 */
export class Interner<T> {
  readonly #values: CappedMap<string, T>

  /** @param capacity distinct values to remember, default 100,000 */
  constructor(capacity = 100_000) {
    this.#values = new CappedMap(capacity)
  }

  get(key: string, create: () => T): T {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const created = create()
    if (key.length <= maxKeyLength) this.#values.set(key, created)
    return created
  }
}
