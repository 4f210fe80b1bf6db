/**
 * A queue of keys. One worker at a time handles a key, a key waits at most once, and it returns with a growing delay if its
 * work fails. Namespaces take turns, and slow work does not occupy a worker, so no namespace waits for another's upstream.
 */

import { messageOf } from '../../base/errors/errors.ts'
import { backoffMs, type Random } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { causeOf } from '../egress/egress.ts'
import { moreUrgent, type Priority, RunningWork, type Turn, type Waiter, Waiting } from './lanes.ts'
import { queueMetrics } from './metrics.ts'

export type { Priority } from './lanes.ts'

export interface Reconciled {
  /** When to work on the key again although nothing has changed. Default: never. */
  readonly afterMs?: number
  /**
   * Nothing was done because a resource was taken: the key waits in line for it, and its work begins again once `acquire`
   * has taken it. Earlier failures still count.
   */
  readonly waitsFor?: string
}

export interface QueueOptions {
  /** For logs and metrics, such as `Version`. */
  readonly kind: string
  /** Maximum number of keys in work, not counting slow ones. */
  readonly workers: number
  /**
   * Brings a key to its desired state. An error is logged, and the key returns after the error's `retryAfterMs`, otherwise
   * after the backoff.
   *
   * @param signal aborted when the queue stops
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Reconciled | void>
  /**
   * Takes a resource that a key waits for, such as a slot of a host; false if it is taken. The work on the key begins at
   * once and has to return the resource. Default: always true.
   */
  readonly acquire?: (waitsFor: string, key: string) => boolean
  /** How often work on a key may fail before `idle` no longer waits for it. Default: 1. */
  readonly tries?: number
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: Math.random. */
  readonly random?: Random
  /** Default: the timers of the process. */
  readonly timers?: Timers
}

/** Calls back later. */
export interface Timers {
  /** In milliseconds, from any start. */
  readonly now: () => number
  /** @returns cancels the call */
  readonly after: (delayMs: number, call: () => void) => () => void
}

const processTimers: Timers = {
  now: () => performance.now(),
  after(delayMs, call) {
    const timer = setTimeout(call, delayMs)
    return () => clearTimeout(timer)
  },
}

/** `idle` waits for no key that has to wait longer. */
const briefMs = 10_000

/** Waits after failures. */
const backoff = { firstMs: 1_000, capMs: 900_000, jitter: 'full' } as const

/** Longest delay of a timer in Node: 24.8 days. */
const longestTimerMs = 2 ** 31 - 1

interface Due {
  readonly atMs: number
  readonly cancel: () => void
}

/** An empty queue that does not work until it is started. */
export class Queue {
  readonly #options: QueueOptions
  readonly #timers: Timers
  readonly #metrics: ReturnType<typeof queueMetrics>
  readonly #waiting = new Waiting()
  readonly #due = new Map<string, Due>()
  readonly #running: RunningWork
  readonly #turn: Turn
  /** Keys that were added while they were in work. */
  readonly #again = new Map<string, Priority>()
  /** How often in a row the work on a key has failed. */
  readonly #failures = new Map<string, number>()
  /** The keys whose last work failed, with its error. */
  readonly #failing = new Map<string, unknown>()
  /** Failed keys that `idle` waits for. */
  readonly #retried = new Set<string>()
  readonly #stop = new AbortController()
  #idle = Promise.withResolvers<void>()
  #isStarted = false

  constructor(options: QueueOptions) {
    this.#options = options
    this.#timers = options.timers ?? processTimers
    this.#running = new RunningWork(options.workers, () => this.#work())
    this.#turn = {
      isOpen: (lane) => this.#running.isOpen(lane),
      acquire: options.acquire ?? (() => true),
    }
    this.#metrics = queueMetrics(options.metrics)
    this.#metrics.show({
      kind: options.kind,
      depth: (priority) => this.#waiting.count(priority),
      oldestSeconds: () => {
        const sinceMs = this.#waiting.oldestMs()
        return sinceMs === undefined ? 0 : (performance.now() - sinceMs) / 1000
      },
      failing: () => this.#failing.size,
    })
  }

  /** Keys whose last work failed, with its error. */
  get failing(): ReadonlyMap<string, unknown> {
    return this.#failing
  }

  /** When a failed key is tried next, in milliseconds since 1970; undefined if none is due. */
  get nextTryMs(): number | undefined {
    const due = [...this.#failing.keys()].flatMap((key) => this.#due.get(key)?.atMs ?? [])
    return due.length === 0 ? undefined : Date.now() - performance.now() + Math.min(...due)
  }

  /** Requests work on a key. A key that waits already keeps its place, or gets a better one. */
  add(key: string, priority: Priority): void {
    if (this.#stop.signal.aborted) return
    this.#forgetDue(key)
    if (this.#running.has(key)) {
      this.#again.set(key, moreUrgent(priority, this.#again.get(key) ?? priority))
      return
    }
    this.#waiting.add(key, priority)
    this.#work()
  }

  /** Requests work after a delay. A key that waits already, or is due sooner, is left alone. */
  addAfter(key: string, delayMs: number): void {
    if (this.#stop.signal.aborted) return
    const leftMs = Math.max(0, delayMs)
    const atMs = this.#timers.now() + leftMs
    const known = this.#due.get(key)
    if (known !== undefined && known.atMs <= atMs) return
    this.#forgetDue(key)
    const ring = () => {
      this.#due.delete(key)
      if (leftMs > longestTimerMs) this.addAfter(key, leftMs - longestTimerMs)
      else this.add(key, 'poll')
    }
    const cancel = this.#timers.after(Math.min(leftMs, longestTimerMs), ring)
    this.#due.set(key, { atMs, cancel })
  }

  /** Resolves when no key waits or is in work; keys that are due later do not count, except failed ones with tries left. */
  async idle(): Promise<void> {
    while (this.#isBusy) await this.#idle.promise
  }

  get #isBusy(): boolean {
    return this.#waiting.size > 0 || this.#running.size > 0 || this.#retried.size > 0
  }

  start(): void {
    this.#isStarted = true
    this.#work()
  }

  /** Begins work on keys that wait for a resource, which other work returned before its end. */
  workOn(): void {
    this.#work()
  }

  /** Aborts running work and resolves when it has ended; no other work begins. */
  async stop(): Promise<void> {
    this.#stop.abort()
    for (const key of this.#due.keys()) this.#forgetDue(key)
    await this.#running.ended()
  }

  #forgetDue(key: string): void {
    this.#due.get(key)?.cancel()
    this.#due.delete(key)
  }

  #work(): void {
    while (this.#isStarted && !this.#stop.signal.aborted && this.#running.hasRoom) {
      const waiter = this.#waiting.next(this.#turn)
      if (waiter === undefined) return
      this.#running.add(waiter.key, this.#reconcile(waiter))
    }
  }

  async #reconcile(waiter: Waiter): Promise<void> {
    const { kind, reconcile } = this.#options
    const { key } = waiter
    const startedMs = performance.now()
    this.#retried.delete(key)
    let waitsFor: string | undefined
    try {
      const result = (await reconcile(key, this.#stop.signal)) ?? {}
      waitsFor = result.waitsFor
      if (waitsFor === undefined) this.#succeeded(key, result)
    } catch (error) {
      if (!this.#stop.signal.aborted) this.#failed(key, error)
    }
    this.#metrics.duration.observe({ kind }, (performance.now() - startedMs) / 1000)
    this.#ended(key, waitsFor === undefined ? undefined : { ...waiter, waitsFor })
  }

  #succeeded(key: string, { afterMs }: Reconciled): void {
    this.#failures.delete(key)
    this.#failing.delete(key)
    if (afterMs !== undefined) this.addAfter(key, afterMs)
  }

  #failed(key: string, error: unknown): void {
    const { kind, log, random = Math.random, tries = 1 } = this.#options
    const failures = (this.#failures.get(key) ?? 0) + 1
    this.#failures.set(key, failures)
    this.#failing.set(key, error)
    this.#metrics.retries.inc({ kind })
    const delayMs = retryAfterOf(error) ?? backoffMs({ ...backoff, random }, failures)
    const reason = error instanceof Error && 'reason' in error ? error.reason : undefined
    // Work that ended by a deadline has waited long enough.
    if (failures < tries && delayMs <= briefMs && reason !== 'UpstreamTimeout') {
      this.#retried.add(key)
    }
    log.warn(
      { kind, key, failures, delayMs, reason, error: messageOf(error), cause: causeOf(error) },
      'work on an object failed, Depot tries again',
    )
    this.addAfter(key, delayMs)
  }

  /** @param putOff the key's place in line if it waits again */
  #ended(key: string, putOff: Waiter | undefined): void {
    this.#running.delete(key)
    if (putOff !== undefined) this.#waiting.put(putOff)
    const again = this.#again.get(key)
    this.#again.delete(key)
    if (again !== undefined) this.add(key, again)
    this.#work()
    if (this.#isBusy) return
    this.#idle.resolve()
    this.#idle = Promise.withResolvers()
  }
}

/** Reads when a server wants to be asked again; 0 is ignored because it would be a busy loop. */
function retryAfterOf(error: unknown): number | undefined {
  const ms = error instanceof Error && 'retryAfterMs' in error ? error.retryAfterMs : undefined
  return typeof ms === 'number' && Number.isFinite(ms) && ms > 0 ? ms : undefined
}
