import { unavailable } from '../errors/errors.ts'

/** Runs work as soon as a slot is free, first come first served. */
export type Limiter = <T>(work: () => Promise<T>) => Promise<T>

/**
 * @param options.parallel maximum that runs at once
 * @param options.waiting maximum that waits
 * @param options.busy the message (Unavailable) if no more may wait
 */
export function createLimiter(options: {
  readonly parallel: number
  readonly waiting: number
  readonly busy: string
}): Limiter {
  const { parallel, waiting: waitingPerKey, busy } = options
  // All work has one key, for which the last slot is not.
  const run = createFairLimiter({ parallel: parallel + 1, perKey: parallel, waitingPerKey, busy })
  return (work) => run('', work)
}

interface Waiting {
  readonly key: string
  readonly start: () => void
}

/**
 * Like {@link createLimiter}, but one key never blocks another: the last slot is for a key without running work.
 *
 * @param options.perKey maximum of one key that runs at once
 * @param options.waitingPerKey maximum of one key that waits
 * @param options.busy the message (Unavailable) if no more of its key may wait
 */
export function createFairLimiter(options: {
  readonly parallel: number
  readonly perKey: number
  readonly waitingPerKey: number
  readonly busy: string
}): <T>(key: string, work: () => Promise<T>) => Promise<T> {
  const queue: Waiting[] = []
  const running = new Map<string, number>()
  let total = 0
  const runningOf = (key: string): number => running.get(key) ?? 0
  const mayStart = (key: string): boolean => {
    const reserved = runningOf(key) === 0 ? 0 : 1
    return total < options.parallel - reserved && runningOf(key) < options.perKey
  }

  function begin(key: string): void {
    total += 1
    running.set(key, runningOf(key) + 1)
  }

  function end(key: string): void {
    total -= 1
    if (runningOf(key) === 1) running.delete(key)
    else running.set(key, runningOf(key) - 1)
    const index = queue.findIndex((waiting) => mayStart(waiting.key))
    const [next] = index === -1 ? [] : queue.splice(index, 1)
    if (next === undefined) return
    begin(next.key)
    next.start()
  }

  return async (key, work) => {
    if (mayStart(key)) begin(key)
    else {
      const waiting = queue.reduce((count, other) => count + Number(other.key === key), 0)
      if (waiting >= options.waitingPerKey) throw unavailable(options.busy)
      await new Promise<void>((start) => queue.push({ key, start }))
    }
    try {
      return await work()
    } finally {
      end(key)
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
