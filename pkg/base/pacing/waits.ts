import { setImmediate, setTimeout as sleep } from 'node:timers/promises'
import { unavailable } from '../errors/errors.ts'

/** A number from 0 to below 1. */
export type Random = () => number

export interface BackoffOptions {
  /** The first wait, in milliseconds. It doubles with each failure. */
  readonly firstMs: number
  readonly capMs: number
  /**
   * The random part of a wait, so that clients do not return at the same time after an outage. `full`: the whole wait, which
   * spreads them best. `equal`: half of it, so that no wait is close to 0.
   */
  readonly jitter: 'full' | 'equal'
  /** Default: Math.random. */
  readonly random?: Random
}

/** The wait after a number of failures in a row, from 1. */
export function backoffMs(
  { firstMs, capMs, jitter, random = Math.random }: BackoffOptions,
  failures: number,
): number {
  const doublings = Math.min(Math.max(0, failures - 1), 30)
  const wholeMs = Math.min(capMs, firstMs * 2 ** doublings)
  return Math.round(jitter === 'full' ? wholeMs * random() : wholeMs * (0.5 + random() / 2))
}

/** Counts failures in a row, and returns the wait after each. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  nextMs(): number {
    this.#failures += 1
    return backoffMs(this.#options, this.#failures)
  }

  reset(): void {
    this.#failures = 0
  }
}

/**
 * Sleeps until the time is over or the signal aborts; never throws.
 *
 * @param onWaiting gets a function that ends the sleep early, and returns one that forgets it
 */
export async function pause(
  delayMs: number,
  signal: AbortSignal,
  onWaiting?: (wake: () => void) => () => void,
): Promise<void> {
  const awake = new AbortController()
  const wake = () => awake.abort()
  const forget = onWaiting?.(wake)
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted) wake()
  await sleep(Math.max(0, delayMs), undefined, { signal: awake.signal }).catch(() => undefined)
  signal.removeEventListener('abort', wake)
  forget?.()
}

/** Waits for work that cannot be cancelled until a signal aborts. @throws the reason of the signal */
export async function untilAborted<T>(work: Promise<T>, signal?: AbortSignal): Promise<T> {
  if (signal === undefined) return work
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  try {
    // The race also handles the error of work that fails later.
    return await Promise.race([aborted.promise, work])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/**
 * Waits a limited time for work that cannot be cancelled, such as a read from a dead network file system.
 *
 * @param message for the client: `the archive storage does not answer`
 * @param late is called with a result that comes too late
 * @throws RegistryError Unavailable
 */
export async function withDeadline<T>(
  work: Promise<T>,
  ms: number,
  message: string,
  late?: (value: T) => void,
): Promise<T> {
  if (await endsWithin(work, ms)) return work
  work.then(late, () => {})
  throw unavailable(message)
}

/**
 * Waits a limited time for work, which continues if it has not ended by then.
 *
 * @returns whether it ended in time
 * @throws the error of work that fails in time
 */
export async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = Promise.withResolvers<false>()
  const timer = setTimeout(() => over.resolve(false), ms)
  try {
    return await Promise.race([work.then(() => true), over.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** The default length of a turn. A request waits for one turn at most. */
const defaultMs = 5

/** Cuts long work on the event loop into turns; requests are answered and timers run between them. */
export class Turns {
  readonly #maxMs: number
  #startedMs = performance.now()

  constructor(maxMs = defaultMs) {
    this.#maxMs = maxMs
  }

  /** True once this turn has taken long enough. */
  get due(): boolean {
    return performance.now() - this.#startedMs >= this.#maxMs
  }

  /** Yields if the turn has taken long enough. */
  async yieldIfDue(): Promise<void> {
    if (this.due) await this.yield()
  }

  /** Lets waiting work run, then begins the next turn. */
  async yield(): Promise<void> {
    await setImmediate()
    this.#startedMs = performance.now()
  }
}

/**
 * Repeats a task, never twice at a time. The task returns the wait until the next run, in milliseconds,
 * and handles its own errors.
 */
export class Loop {
  readonly #task: () => Promise<number>
  #timer: NodeJS.Timeout | undefined
  #dueAt = Infinity
  #running: Promise<void> | undefined
  #closed = false

  constructor(task: () => Promise<number>) {
    this.#task = task
  }

  /** Asks for a run within `delayMs`; a run that is due earlier stays as it is. */
  schedule(delayMs: number): void {
    const dueAt = performance.now() + delayMs
    if (this.#closed || dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    if (this.#running !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, delayMs)
  }

  /** Resolves when a run in progress has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#dueAt = Infinity
    const delayMs = await this.#task()
    const askedMs = this.#dueAt - performance.now()
    this.#dueAt = Infinity
    this.#running = undefined
    this.schedule(Math.max(0, Math.min(delayMs, askedMs)))
  }
}
