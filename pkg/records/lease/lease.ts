/**
 * Which replica may write: one holds a Lease of the cluster and renews it, and gives up its work before another one can have
 * it.
 */

import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { KubeClient } from '../kube/kube.ts'
import { LeaseElection } from './election.ts'

export { microTime } from './record.ts'

export interface ElectionOptions {
  readonly client: KubeClient
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** Identity of this replica; a new one each time it starts. */
  readonly identity: string
  /**
   * Called each time the lease was won. The signal aborts when it is lost or given up: work has to end then, and every
   * write through `guard` is refused.
   */
  readonly onHeld: (signal: AbortSignal) => void
  readonly log: Logger
  readonly metrics: Metrics
  /**
   * How long others wait for a holder that says nothing, how long a holder goes on without a renewal, and how often it
   * renews. Default: 15 s, 10 s and 2 s.
   */
  readonly timings?: {
    readonly leaseMs: number
    readonly renewMs: number
    readonly retryMs: number
  }
}

export interface Election {
  /** Waits for the lease from now on, and renews it while it is held. */
  start(): void
  /** Whether this replica may write now. */
  held(): boolean
  /** The client, whose writes throw ApiError NotHeld while the lease is not held. */
  guard(client: KubeClient): KubeClient
  /** Gives the lease up, so that another replica need not wait for it. */
  release(): Promise<void>
}

/** Does nothing before it is started. */
export function elect(options: ElectionOptions): Election {
  return new LeaseElection(options)
}
