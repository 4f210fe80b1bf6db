/** Bounded maps, results that callers share, and copies of texts and bytes that keep nothing else in memory. */

import { LRUCache } from 'lru-cache'
import { untilAborted } from '../pacing/pacing.ts'

interface BoundedOptions<V> {
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

interface SharedResultsOptions {
  readonly maxEntries: number
  /** How long a result is the one of everybody. Default: two minutes, because callers come at about the same time. */
  readonly keptMs?: number
  /** Milliseconds since 1970. Default: Date.now. */
  readonly clock?: () => number
}

interface ResultNeed<V> {
  /** Whether others take a result, too. Default: all results. */
  readonly isKept?: (result: V) => boolean
  /** How long a failure is the result of everybody. Default: not at all, so that another caller tries. */
  readonly failedMs?: (error: unknown) => number
  /** Whether to make the result again, whatever is known. */
  readonly isFresh?: boolean
  /** Ends a wait for a result that another caller makes. */
  readonly signal?: AbortSignal
}

/**
 * Results that several callers need at about the same time. One of them makes each, and the others wait for it. If it fails,
 * one of those makes it, and the others wait again.
 */
export class SharedResults<V> {
  readonly #made: Bounded<Promise<V>>
  readonly #keptMs: number
  readonly #clock: () => number

  constructor({ maxEntries, keptMs = 2 * 60_000, clock = Date.now }: SharedResultsOptions) {
    this.#made = new Bounded({ maxEntries, clock })
    this.#keptMs = keptMs
    this.#clock = clock
  }

  async get(key: string, make: () => Promise<V>, need: ResultNeed<V> = {}): Promise<V> {
    let known = need.isFresh === true ? undefined : this.#made.get(key)
    while (known !== undefined) {
      try {
        return await untilAborted(known, need.signal)
      } catch (error) {
        const now = this.#made.get(key)
        if (now === known || need.signal?.aborted === true) throw error
        known = now
      }
    }
    const made = make()
    this.#made.set(key, made)
    const keep = (ms: number) => {
      if (this.#made.get(key) !== made) return
      if (ms > 0) this.#made.set(key, made, this.#clock() + ms)
      else this.#made.delete(key)
    }
    made.then(
      (result) => keep(need.isKept?.(result) === false ? 0 : this.#keptMs),
      (error: unknown) => keep(need.failedMs?.(error) ?? 0),
    )
    return made
  }

  /** Whether a result is known or being made. */
  has(key: string): boolean {
    return this.#made.get(key) !== undefined
  }
}

/** A small map for values that are cheap to make again: it forgets all of them when it is full. */
export class CappedMap<K, V> extends Map<K, V> {
  readonly #max: number

  constructor(max: number) {
    super()
    this.#max = max
  }

  override set(key: K, value: V): this {
    if (this.size >= this.#max && !this.has(key)) this.clear()
    return super.set(key, value)
  }
}

/** Maximum number of bytes of a UTF-16 code unit in UTF-8. */
export const characterBytes = 3

/**
 * A copy in memory of its own, for long-lived bytes. `Buffer.from` puts short buffers into shared pieces of 64 kB, and a piece
 * stays in memory as long as any of its buffers.
 */
export function keptBytes(content: string | Uint8Array): Buffer<ArrayBuffer> {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(content))
  if (typeof content === 'string') bytes.write(content)
  else bytes.set(content)
  return bytes
}

/**
 * A copy of a long-lived text: a slice, such as a part of a URL, would keep the whole text in memory. Half a surrogate pair
 * becomes U+FFFD, as in a URL.
 */
export const keptText = (text: string): string => Buffer.from(text).toString()
