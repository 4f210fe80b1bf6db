import { LRUCache } from 'lru-cache'

export interface BoundedOptions<V> {
  /** 1 or more. Default: no limit, if there is one of bytes. */
  readonly maxEntries?: number
  /** Limit of the sizes of all values. Default: none. */
  readonly maxBytes?: number
  /** The bytes that a value keeps alive; a whole number. */
  readonly sizeOf?: (value: V, key: string) => number
  /** Milliseconds since 1970. Default: Date.now. */
  readonly clock?: () => number
}

interface Entry<V> {
  readonly value: V
  readonly untilMs: number
}

/**
 * A map with a bound: it forgets the entries that were used least recently, and does not keep a value that is larger than
 * the bound. Expiry is checked here, exactly and by a clock that tests can set.
 */
export class Bounded<V> {
  readonly #entries: LRUCache<string, Entry<V>>
  readonly #clock: () => number

  constructor({ maxEntries, maxBytes, sizeOf, clock = Date.now }: BoundedOptions<V>) {
    this.#clock = clock
    // The cache makes room for `max` entries at once, and for a size only as it fills.
    this.#entries = new LRUCache({
      max: (maxBytes && maxEntries) ?? 0,
      maxSize: Math.max(1, maxBytes ?? maxEntries ?? 1),
      sizeCalculation: ({ value }, key) => Math.max(1, (maxBytes && sizeOf?.(value, key)) ?? 1),
    })
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs === Number.POSITIVE_INFINITY || entry.untilMs > this.#clock())
      return entry.value
    this.delete(key)
    return undefined
  }

  /** @param untilMs milliseconds since 1970. Default: until there is no room */
  set(key: string, value: V, untilMs = Number.POSITIVE_INFINITY): void {
    this.#entries.set(key, { value, untilMs })
  }

  /** The value of a key, which is made and kept if there is none. */
  getOrMake(key: string, make: () => V): V {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: string): boolean {
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
  }
}
