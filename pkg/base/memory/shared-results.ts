import { Bounded } from './bounded.ts'

export interface SharedResultsOptions {
  readonly maxEntries: number
  /** How long a result is the one of everybody. Default: two minutes, because callers come at about the same time. */
  readonly keptMs?: number
  /** Milliseconds since 1970. Default: Date.now. */
  readonly clock?: () => number
}

export interface ResultNeed<V> {
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

async function untilAborted<V>(result: Promise<V>, signal: AbortSignal | undefined): Promise<V> {
  if (signal === undefined) return result
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([result, aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}
