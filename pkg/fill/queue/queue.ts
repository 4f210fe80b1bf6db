/**
 * A queue of keys. One worker at a time handles a key, a key waits at most once, and it returns with a growing delay if its
 * work fails. Namespaces take turns, and slow work does not occupy a worker, so no namespace waits for another's upstream.
 */

import type { Random } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { KeyedQueue } from './keyed-queue.ts'

/** Changes by people come first, then objects listed at the start, then periodic checks. */
export type Priority = 'user' | 'listing' | 'poll'

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
  /** Time after which work counts as slow. Default: 10 s. */
  readonly slowMs?: number
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
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: Math.random. */
  readonly random?: Random
  /** Default: 1 s and 15 min. */
  readonly backoff?: { readonly firstMs: number; readonly capMs: number }
}

export interface Queue {
  /** Requests work on a key. A key that waits already keeps its place, or gets a better one. */
  add(key: string, priority: Priority): void
  /** Requests work after a delay. A key that waits already, or is due sooner, is left alone. */
  addAfter(key: string, delayMs: number): void
  /** Resolves when no key waits or is in work; keys that are due later do not count. */
  idle(): Promise<void>
  /** Keys whose last work failed. */
  readonly failing: ReadonlySet<string>
  start(): void
  /** Aborts running work and resolves when it has ended; no other work begins. */
  stop(): Promise<void>
}

/** Creates an empty queue that is not started. */
export function createQueue(options: QueueOptions): Queue {
  return new KeyedQueue(options)
}
