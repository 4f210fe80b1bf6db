import type { PolicyException } from '../../api/v1alpha1/v1alpha1.ts'
import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { PackedDocs } from '../../archives/docs/docs.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import type { Reason } from '../../base/errors/errors.ts'
import type { SharedResults } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ObjectKind, Objects, StoredObject, StoredRef } from '../../records/store/store.ts'
import type { EgressPolicy } from '../egress/egress.ts'
import type { InstallationPolicy } from '../policy/policy.ts'
import type { Priority, Timers } from '../queue/queue.ts'
import type { Sources } from '../sources/sources.ts'
import type { SyncMetrics } from './metrics.ts'
import type { SyncTimings } from './timings.ts'
import type {
  ArchivesInUse,
  AwaitedReleases,
  DocsAllowance,
  FirstSigners,
  HeldArchives,
  HostSlots,
} from './version/in-work.ts'
import type { Removals } from './version/removals.ts'
import type { Earlier, OtherContent, SourceFiles } from './version/work.ts'

export interface SyncOptions {
  /** The resources; work begins when they are `ready`. */
  readonly objects: Objects
  readonly sources: Sources
  /** The storage that servers read archives from. */
  readonly archives: ArchiveStore
  /** Temporary space for archives in work. */
  readonly spool: Spool
  /** Maximum sizes of archives. */
  readonly limits: LimitsByKind
  /** The destinations that sources may reach; a change makes refused archives worth another attempt. */
  readonly policy?: EgressPolicy
  /** The policy of the whole installation, which Depots can only tighten. */
  readonly installation?: InstallationPolicy
  readonly apiGroup: string
  readonly log: Logger
  /** Takes decisions of people about versions. Default: the log, whatever its level. */
  readonly audit?: (decision: PolicyDecision) => void
  readonly metrics: Metrics
  /** Default: Date.now. */
  readonly clock?: Clock
  /** When work that is due later begins. Default: the timers of the process. */
  readonly timers?: Timers
  readonly timings?: Partial<SyncTimings>
  /**
   * Maximum number of objects of a kind in work. Half as many Versions may ask one host. Default: 2 Depots, 4 of every other
   * kind.
   */
  readonly workers?: Partial<Record<ObjectKind, number>>
  /** How often work may fail before `idle` no longer waits for it, because failures may pass in a moment. Default: 1. */
  readonly tries?: number
  /** Polls every upstream at the start, whatever the polling interval. Default: false. */
  readonly pollAtStart?: boolean
  /**
   * How to check every stored archive once, whenever it was checked last: `look` at its size, or also `read` and hash it.
   * Default: when a check is due.
   */
  readonly verifyAtStart?: 'look' | 'read' | undefined
  /** Reports namespaces whose storage grants changed. @returns removes the listener */
  readonly onGrantChange?: (listener: (namespace: string) => void) => () => void
  /**
   * Whether a person confirmed all removals that are held. Undefined: the program has no option for it, and people confirm
   * with an annotation.
   */
  readonly confirmRemovals?: boolean
  /** Fetches go.mod and go.sum of providers from their source repositories, for scans. Default: false. */
  readonly providerSources?: boolean
  /** Removes archives that no Version refers to, instead of only reporting them. Default: false. */
  readonly sweepDelete?: boolean
  /** Decides everything, and fetches, stores and removes no archive. `objects` has to be a copy. */
  readonly dryRun?: DryRun
}

export interface DryRun {
  /** Whether to work on an object. */
  readonly isAsked: (ref: StoredRef) => boolean
  /** Receives the expected outcome for a Version, several times if earlier attempts failed. */
  readonly tell: (version: StoredObject, outlook: VersionOutlook) => void
}

/** A decision of a person that lets in a version that a policy holds. */
export interface PolicyDecision extends PolicyException {
  /** A Depot that lets the version in, or a Version that is released. */
  readonly object: StoredRef
}

/** Everything that reconcilers work with. */
export interface Context extends Omit<SyncOptions, 'metrics' | 'clock' | 'timings'> {
  readonly metrics: SyncMetrics
  readonly audit: (decision: PolicyDecision) => void
  readonly clock: Clock
  readonly timings: SyncTimings
  readonly held: HeldArchives
  readonly slots: HostSlots
  readonly inUse: ArchivesInUse
  readonly docsAllowance: DocsAllowance
  /** Limits how many stored versions are compared in addition to those that are stored. */
  readonly comparisonAllowance: DocsAllowance
  /** Documentation of providers that was fetched from a repository lately. */
  readonly pages: SharedResults<PackedDocs | undefined>
  /** go.mod and go.sum of providers that were fetched lately. */
  readonly providerFiles: SharedResults<SourceFiles>
  /** Repositories of providers that could not be listed lately. */
  readonly repositories: SharedResults<void>
  readonly removals: Removals
  readonly signers: FirstSigners
  /** Requests work on another object. */
  readonly wake: (ref: StoredRef, priority: Priority) => void
  /** Depots that were polled before this moment are polled again. */
  readonly pollSinceMs: number
  /** Versions whose archive was checked since the start. */
  readonly verified: Set<string>
  /** Upstream addresses of the Providers whose source repository could not be looked up, by uid. */
  readonly unsourced: Map<string, string>
  /** Versions to compare, with the earlier one of each; undefined if there is none any more. Some wait for theirs. */
  readonly uncompared: Map<string, Earlier>
  readonly awaited: AwaitedReleases
  /** Versions whose upstream has other content by now, each with what is known of it. */
  readonly outdated: Map<string, OtherContent>
  /** Versions that upstream changed after they were let in, each with the revision that it has by now. */
  readonly unaged: Map<string, string>
  /** Versions whose signer a rule refused, each with the time and the rules. */
  readonly ruled: Map<string, { readonly atMs: number; readonly rules: string }>
  /** Depots that list again for content that changed after it was let in. */
  readonly relisted: Set<string>
  /** Depots whose last poll handled a request, or found another number of versions. */
  readonly polled: Set<string>
  /** Uids of the Modules and Providers that their Depots have listed since the start. */
  readonly listed: Set<string>
}

export type VersionOutlook =
  | { readonly step: 'keep' }
  /**
   * `return`: it gets the archive that it left in storage. `restore`: its archive is missing or altered. `move`: the archive is
   * copied to the storage that the spec names now. `document`: its documentation is made again.
   */
  | { readonly step: 'fetch' | 'return' | 'restore' | 'replace' | 'move' | 'document' }
  /** `wait`: the stored archive stays until the policy lets in upstream's other content. */
  | { readonly step: 'wait'; readonly message: string }
  | { readonly step: 'drift' | 'fail'; readonly reason: Reason; readonly message: string }
