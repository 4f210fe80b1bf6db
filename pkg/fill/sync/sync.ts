/**
 * Fills the registry: a reconciler for each kind brings objects to where their specs say, from what it finds, so that any
 * step can be done again after a kill. Modules and Providers get a Version for each archive, Versions get their archive
 * fetched, checked and stored, and Depots keep Modules and Providers in step with their upstreams.
 */

import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'
import type { LimitsByKind } from '../../archives/archive/archive.ts'
import type { Spool } from '../../archives/spool/spool.ts'
import type { ArchiveStore } from '../../archives/storage/storage.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import type { ObjectKind, Objects, StoredObject, StoredRef } from '../../records/store/store.ts'
import { createQueue, type Priority, type Queue, type Reconciled } from '../queue/queue.ts'
import type { Sources } from '../sources/sources.ts'
import { conditionOf } from './conditions.ts'
import { type Context, keyOf, refOf } from './context.ts'
import { reconcileDepot } from './depot/depot.ts'
import { syncMetrics } from './metrics.ts'
import { reconcileModule } from './module/module.ts'
import { FirstSigners } from './provider/first-signers.ts'
import { reconcileProvider } from './provider/provider.ts'
import { sweepDaily } from './sweep/daily.ts'
import { defaultTimings, type SyncTimings } from './timings.ts'
import { ArchivesInUse } from './version/archives-in-use.ts'
import { HeldArchives } from './version/held-archives.ts'
import { HostSlots } from './version/host-slots.ts'
import { versionStates } from './version/states.ts'
import { reconcileVersion } from './version/version.ts'
import { affectedBy } from './wake.ts'

export { watchBindings } from './bindings/bindings.ts'

export interface SyncOptions {
  /** Where resources are; work begins once it is `ready`. */
  readonly objects: Objects
  readonly sources: Sources
  /** Where archives are stored: what servers read from. */
  readonly archives: ArchiveStore
  /** Where archives lie on their way. */
  readonly spool: Spool
  /** How much archives may be. */
  readonly limits: LimitsByKind
  readonly apiGroup: string
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: Date.now. */
  readonly clock?: Clock
  readonly timings?: Partial<SyncTimings>
  /**
   * How many objects of a kind are worked on at a time. Half as many Versions ask one host. Default: 2 Depots, 4 of every
   * other kind.
   */
  readonly workers?: Partial<Record<ObjectKind, number>>
  /** Looks at every upstream at the start, whatever the polling interval. Default: false. */
  readonly pollAtStart?: boolean
  /** Tells of namespaces that may use other places of storage now. @returns what takes the listener back */
  readonly onGrantChange?: (listener: (namespace: string) => void) => () => void
  /** Removes archives that no Version refers to, instead of only telling of them. Default: false. */
  readonly sweepDelete?: boolean
}

export interface Sync {
  /** Resolves when nothing is left to do now; what is due later does not count. */
  idle(): Promise<void>
  /** Objects whose last work failed and that are tried again, such as `Version platform/vpc-1-2-0`. */
  failing(): string[]
  /** Aborts what runs, and resolves when it has ended. Fetched archives that are not stored yet are given up. */
  stop(): Promise<void>
}

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const satisfies readonly ObjectKind[]
const defaultWorkers: Readonly<Record<ObjectKind, number>> = {
  Depot: 2,
  Module: 4,
  Provider: 4,
  Version: 4,
}

/** Begins to work, and goes on until it is stopped. */
export async function startSync(options: SyncOptions): Promise<Sync> {
  const { objects, log, metrics } = options
  const timings = { ...defaultTimings, ...options.timings }
  const clock = options.clock ?? Date.now
  const queues = new Map<ObjectKind, Queue>()
  const wake = ({ kind, namespace, name }: StoredRef, priority: Priority): void => {
    queues.get(kind)?.add(keyOf({ namespace, name }), priority)
  }
  const workersOf = (kind: ObjectKind) => options.workers?.[kind] ?? defaultWorkers[kind]
  const context: Context = {
    ...options,
    clock,
    timings,
    metrics: syncMetrics(metrics, { states: () => versionStates(objects), spool: options.spool }),
    held: new HeldArchives(timings.heldMs, options.spool),
    slots: new HostSlots(Math.ceil(workersOf('Version') / 2)),
    inUse: new ArchivesInUse(),
    signers: new FirstSigners(),
    wake,
    outdated: new Set(),
    pollSinceMs: options.pollAtStart === true ? clock() : 0,
  }
  let worked = 0
  for (const kind of kinds) {
    const reconcile = (key: string, signal: AbortSignal) => {
      worked += 1
      return reconcilers[kind](context, refFrom(kind, key), signal)
    }
    const acquire = (host: string, key: string) => context.slots.take(host, key)
    const workers = workersOf(kind)
    queues.set(kind, createQueue({ kind, workers, reconcile, acquire, log, metrics }))
  }
  await objects.ready
  const forget = objects.onChange((ref, before, after) => {
    for (const [affected, priority] of affectedBy(context, ref, before, after)) {
      wake(affected, priority)
    }
  })
  const ungrant = options.onGrantChange?.((namespace) => {
    for (const version of objects.list('Version', { namespace })) {
      if (isRefused(version)) wake(refOf(version), 'user')
    }
  })
  for (const kind of kinds) for (const object of objects.list(kind)) wake(refOf(object), 'listing')
  for (const queue of queues.values()) queue.start()
  const stopSweeping = sweepDaily(context, options.sweepDelete === true)
  return {
    idle: async () => {
      // Each queue gives work to others, so all have to be idle in one round.
      for (let seen = -1; seen !== worked; ) {
        seen = worked
        for (const queue of queues.values()) await queue.idle()
      }
    },
    failing: () =>
      [...queues].flatMap(([kind, { failing }]) => [...failing].map((key) => `${kind} ${key}`)),
    stop: async () => {
      forget()
      ungrant?.()
      await stopSweeping()
      await Promise.all([...queues.values()].map((queue) => queue.stop()))
      await context.held.close()
    },
  }
}

const reconcilers: Readonly<
  Record<
    ObjectKind,
    (context: Context, ref: StoredRef, signal: AbortSignal) => Promise<Reconciled | undefined>
  >
> = {
  Depot: reconcileDepot,
  Module: reconcileModule,
  Provider: reconcileProvider,
  Version: reconcileVersion,
}

/** Whether a Version waits for a grant. */
function isRefused({ status }: StoredObject): boolean {
  const { conditions } = (status ?? {}) as { conditions?: readonly Condition[] }
  const reason = conditionOf(conditions, 'Ready')?.reason
  return reason === 'StorageNotGranted' || reason === 'ArchiveNotRemoved'
}

function refFrom(kind: ObjectKind, key: string): StoredRef {
  const slash = key.indexOf('/')
  return { kind, namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
