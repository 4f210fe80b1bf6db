/**
 * A queue of keys: each is worked on by one worker at a time, is in it once, and comes back with a growing delay when its
 * work fails. Namespaces take turns, and slow work gives its worker to others, so that none has to wait for another's
 * upstream.
 */

import type { Random } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { KeyedQueue } from './keyed-queue.ts'

/** What people wrote comes before what a start has listed, and that before what is only looked at again. */
export type Priority = 'user' | 'listing' | 'poll'

export interface Reconciled {
  /** When to look again, although nothing has changed. Default: never. */
  readonly afterMs?: number
  /**
   * Nothing was done, for something was not free: the key waits for it in line, and its work begins again once `acquire`
   * has taken it. What failed before still counts.
   */
  readonly waitsFor?: string
}

export interface QueueOptions {
  /** For logs and metrics, such as `Version`. */
  readonly kind: string
  /** How many keys are worked on at a time, those left out whose work is slow. */
  readonly workers: number
  /** From when on work is slow. Default: 10 s. */
  readonly slowMs?: number
  /**
   * Brings what a key names to where it should be. What it throws is logged, and the key comes again: after the
   * `retryAfterMs` of the error where it has one, else after the backoff.
   *
   * @param signal aborted when the queue is stopped
   */
  readonly reconcile: (key: string, signal: AbortSignal) => Promise<Reconciled | void>
  /**
   * Takes what a key waits for, such as a slot of a host; false where it is not free. The work on the key begins at once, and
   * has to give it back before it ends. Default: it is always free.
   */
  readonly acquire?: (waitsFor: string, key: string) => boolean
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: Math.random. */
  readonly random?: Random
  /** Default: 1 s and 15 min. */
  readonly backoff?: { readonly firstMs: number; readonly capMs: number }
}

export interface Queue {
  /** Asks for work on a key; one that waits already keeps its place, or gets a better one. */
  add(key: string, priority: Priority): void
  /** Asks for it after a while. One that waits already, or is due sooner, stays as it is. */
  addAfter(key: string, delayMs: number): void
  /** Resolves when no key waits or is worked on; those that are due later do not count. */
  idle(): Promise<void>
  /** Keys that failed last and wait for their next try. */
  readonly failing: ReadonlySet<string>
  /** Begins to work. */
  start(): void
  /** Aborts what runs and resolves when it has ended; nothing is begun after that. */
  stop(): Promise<void>
}

/** An empty queue that does not work yet. */
export function createQueue(options: QueueOptions): Queue {
  return new KeyedQueue(options)
}
