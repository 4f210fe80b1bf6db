export interface BoundedOptions<V> {
  /** 1 or more. */
  readonly maxEntries: number
  /** Of all values together, as `sizeOf` counts them. Default: no limit. */
  readonly maxBytes?: number
  /** The bytes that a value keeps alive. Default: 0. */
  readonly sizeOf?: (value: V, key: string) => number
  /** Milliseconds since 1970. Default: Date.now. */
  readonly clock?: () => number
}

interface Entry<V> {
  readonly value: V
  readonly bytes: number
  readonly untilMs: number
}

/**
 * A map with a bound: of more entries or bytes than it may hold, it forgets those that expired, then those that were
 * used least recently. A value that is larger than all that may be held is not kept.
 */
export class Bounded<V> {
  readonly #entries = new Map<string, Entry<V>>()
  readonly #maxEntries: number
  readonly #maxBytes: number
  readonly #sizeOf: (value: V, key: string) => number
  readonly #clock: () => number
  #bytes = 0

  constructor(options: BoundedOptions<V>) {
    this.#maxEntries = options.maxEntries
    this.#maxBytes = options.maxBytes ?? Number.POSITIVE_INFINITY
    this.#sizeOf = options.sizeOf ?? (() => 0)
    this.#clock = options.clock ?? Date.now
  }

  get size(): number {
    return this.#entries.size
  }

  /** What the values count together, in bytes. */
  get bytes(): number {
    return this.#bytes
  }

  get(key: string): V | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (entry.untilMs !== Number.POSITIVE_INFINITY && entry.untilMs <= this.#clock()) {
      this.delete(key)
      return undefined
    }
    // While less than half is in use, the next eviction is far away, and the order need not be kept.
    if (this.#entries.size * 2 > this.#maxEntries || this.#bytes * 2 > this.#maxBytes) {
      this.#entries.delete(key)
      this.#entries.set(key, entry)
    }
    return entry.value
  }

  /** @param untilMs milliseconds since 1970; default: until it is forgotten for others */
  set(key: string, value: V, untilMs = Number.POSITIVE_INFINITY): void {
    this.delete(key)
    const bytes = this.#sizeOf(value, key)
    if (bytes > this.#maxBytes) return
    this.#entries.set(key, { value, bytes, untilMs })
    this.#bytes += bytes
    if (this.#isOver()) this.#dropExpired()
    for (const oldest of this.#entries.keys()) {
      if (!this.#isOver()) break
      this.delete(oldest)
    }
  }

  /** What is known of a key, or else what `make` gives, which is kept. */
  getOrMake(key: string, make: () => V): V {
    const known = this.get(key)
    if (known !== undefined) return known
    const made = make()
    this.set(key, made)
    return made
  }

  delete(key: string): boolean {
    const entry = this.#entries.get(key)
    if (entry === undefined) return false
    this.#bytes -= entry.bytes
    return this.#entries.delete(key)
  }

  clear(): void {
    this.#entries.clear()
    this.#bytes = 0
  }

  #isOver(): boolean {
    return this.#entries.size > this.#maxEntries || this.#bytes > this.#maxBytes
  }

  /** From the oldest on, until one is found that is still valid: in most maps all entries live equally long. */
  #dropExpired(): void {
    const now = this.#clock()
    for (const [key, entry] of this.#entries) {
      if (entry.untilMs > now) break
      this.delete(key)
    }
  }
}
