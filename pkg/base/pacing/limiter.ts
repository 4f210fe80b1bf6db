import { unavailable } from '../errors/errors.ts'

interface SlotsOptions {
  /** Maximum number that is taken at once. */
  readonly max: number
  /** Maximum of one key. Default: all. */
  readonly perKey?: number
  /** Whether one key never blocks another: the last slot is for a key that has none. Default: false. */
  readonly isFair?: boolean
  /** Maximum number of waiters of one key. */
  readonly maxWaiting: number
  /** Maximum number of keys that wait. Default: none. */
  readonly maxWaitingKeys?: number
  /** Maximum wait, in milliseconds. Default: none. */
  readonly waitMs?: number
  /** The message (Unavailable) of a wait that is refused or over. Default: too many requests are waiting. */
  readonly busy?: string
}

interface Waiter {
  readonly key: string
  readonly start: () => void
}

/** Numbers by key, none of which is 0. */
class Counts extends Map<string, number> {
  of(key: string): number {
    return this.get(key) ?? 0
  }

  add(key: string, change: 1 | -1): void {
    const count = this.of(key) + change
    if (count === 0) this.delete(key)
    else this.set(key, count)
  }
}

/**
 * Slots for work that runs at the same time, first come first served. Waiting for one does not count against the deadline of
 * the work.
 */
export class Slots {
  readonly #options: SlotsOptions
  readonly #taken = new Counts()
  readonly #waiting = new Set<Waiter>()
  readonly #waiters = new Counts()
  #total = 0

  constructor(options: SlotsOptions) {
    this.#options = options
  }

  /**
   * @returns releases the slot; calling it twice does no harm
   * @throws RegistryError Unavailable if no slot is free in time; the reason of the signal if that ends the wait
   */
  async acquire(signal?: AbortSignal, key = ''): Promise<() => void> {
    signal?.throwIfAborted()
    if (this.#isFree(key)) this.#take(key)
    else await this.#wait(key, signal)
    let held = true
    return () => {
      if (held) this.#release(key)
      held = false
    }
  }

  /** Does work in a slot. @throws RegistryError Unavailable as `acquire` */
  async run<T>(work: () => Promise<T>, key?: string): Promise<T> {
    const release = await this.acquire(undefined, key)
    try {
      return await work()
    } finally {
      release()
    }
  }

  /** How many have or want a slot. */
  get users(): number {
    return this.#total + this.#waiting.size
  }

  usersOf(key: string): number {
    return this.#taken.of(key) + this.#waiters.of(key)
  }

  #isFree(key: string): boolean {
    const { max, perKey = max, isFair = false } = this.#options
    const own = this.#taken.of(key)
    return own < perKey && this.#total < (isFair && own > 0 ? max - 1 : max)
  }

  #take(key: string): void {
    this.#total += 1
    this.#taken.add(key, 1)
  }

  /** Hands the slot to the first waiter who may have it, so that later requests do not overtake. */
  #release(key: string): void {
    this.#taken.add(key, -1)
    this.#total -= 1
    const next = this.#waiting.values().find((waiter) => this.#isFree(waiter.key))
    if (next === undefined) return
    this.#leave(next)
    this.#take(next.key)
    next.start()
  }

  #leave(waiter: Waiter): void {
    if (this.#waiting.delete(waiter)) this.#waiters.add(waiter.key, -1)
  }

  async #wait(key: string, signal: AbortSignal | undefined): Promise<void> {
    const { maxWaiting, maxWaitingKeys = Infinity, waitMs, busy } = this.#options
    const refusal = unavailable(busy ?? 'too many requests are waiting')
    const own = this.#waiters.of(key)
    if (own >= maxWaiting || (own === 0 && this.#waiters.size >= maxWaitingKeys)) throw refusal
    const turn = Promise.withResolvers<void>()
    const waiter: Waiter = { key, start: turn.resolve }
    const refuse = (reason: unknown) => {
      this.#leave(waiter)
      turn.reject(reason)
    }
    const timer = waitMs && setTimeout(() => refuse(refusal), waitMs)
    const leave = () => refuse(signal?.reason)
    signal?.addEventListener('abort', leave, { once: true })
    this.#waiting.add(waiter)
    this.#waiters.add(key, 1)
    try {
      await turn.promise
    } finally {
      clearTimeout(timer)
      signal?.removeEventListener('abort', leave)
    }
  }
}

/** Callers that ask for the same key at the same time share one answer. */
export class SingleFlight<V> {
  readonly #running = new Map<string, Promise<V>>()
  readonly #max: number
  readonly #overload: () => Error

  /**
   * @param max maximum of different keys that run
   * @param overload creates the error for one more
   */
  constructor({ max, overload }: { readonly max: number; readonly overload: () => Error }) {
    this.#max = max
    this.#overload = overload
  }

  run(key: string, start: () => Promise<V>): Promise<V> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    if (this.#running.size >= this.#max) return Promise.reject(this.#overload())
    const started = start().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }
}

/** Does `work` for every item, at most `limit` at a time. Rejects with the first error, and begins no item after it. */
export async function eachLimited<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]()
  const failures: unknown[] = []
  const worker = async () => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) {
      await work(next.value).catch((error: unknown) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    }
  }
  await Promise.all(Array.from({ length: limit }, worker))
}
