/**
 * Fills the registry. A reconciler for each kind brings objects to their specs from the state that it finds, so any step can
 * be repeated after a kill. Modules and Providers get a Version for each archive, the archives of Versions are fetched,
 * checked and stored, and Depots keep Modules and Providers in sync with their upstreams.
 */

import { isDeepStrictEqual } from 'node:util'
import { SharedResults } from '../../base/memory/memory.ts'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import {
  type ObjectKind,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../records/store/store.ts'
import { type Priority, Queue, type Reconciled } from '../queue/queue.ts'
import { readyIn } from './conditions.ts'
import type { Context, SyncOptions } from './context.ts'
import { auditTo } from './decisions.ts'
import { reconcileDepot } from './depot/depot.ts'
import { recentSubstitutions, syncMetrics, versionStates } from './metrics.ts'
import { keyOf } from './objects.ts'
import { FirstSigners } from './parent/first-signers.ts'
import { heldBackCount } from './parent/held-back.ts'
import { reconcileModule } from './parent/module.ts'
import { reconcileProvider } from './parent/provider.ts'
import { heldRemovals } from './parent/removal.ts'
import { sweepDaily } from './sweep.ts'
import { defaultTimings } from './timings.ts'
import { ArchivesInUse } from './version/archives-in-use.ts'
import { HeldArchives } from './version/held-archives.ts'
import { DocsAllowance, HostSlots } from './version/limits.ts'
import { isMended, isStoredAs, leaveMissing, noteStored } from './version/missing.ts'
import { foresee } from './version/outlook.ts'
import { sweepPublications } from './version/publications.ts'
import { AwaitedReleases } from './version/release.ts'
import { Removals } from './version/removals.ts'
import { leave, removeLeft } from './version/remove.ts'
import { reconcileVersion } from './version/version.ts'
import { versionStatus } from './version/work.ts'
import { affectedBy } from './wake.ts'

export { watchBindings } from './bindings.ts'
export { conditionFalse, conditionTrue, conditionUnknown, type StatusChange } from './conditions.ts'
export type { VersionOutlook } from './context.ts'
export { type SyncOptions } from './context.ts'
export type { PolicyDecision } from './decisions.ts'
export { itemProblem, itemsOf, policiesOf, policyOf } from './depot/configs.ts'
export { addressOf } from './depot/listing.ts'
export { freeName, objectName } from './names.ts'
export { keyOf, resourceOf } from './objects.ts'
export { nameFor } from './parent/children.ts'
export { identityOf, identityOfStored, versionOfStored } from './parent/desired.ts'
export { type HeldVersion, heldBackCount, heldBackIn } from './parent/held-back.ts'
export { ownedBy, placedFor, publishedFor } from './parent/published.ts'
export { nextPoll, pollAnnotation } from './requests.ts'
export { writeStatus } from './status.ts'
export { jittered, msOf, timeOf } from './timings.ts'
export { parentOfVersion } from './version/parent-of.ts'
export { scanPolicyOf, storedPlaceOf } from './version/plan.ts'
export { notePublication } from './version/publications.ts'
export { eventNote } from './version/removals.ts'
export { readStored, storeFile, storeSmall } from './version/store.ts'

export interface Sync {
  /** Resolves when nothing is left to do now; work that is due later does not count. */
  idle(): Promise<void>
  /** Objects whose last work failed and is tried again, such as `Version platform/vpc-1-2-0`. */
  failing(): string[]
  /** When the next of them is tried, in milliseconds since 1970. */
  nextTryMs(): number | undefined
  /** Aborts running work, and resolves when it has ended. Fetched archives that are not stored yet are dropped. */
  stop(): Promise<void>
}

/** Versions that are stored within this time are recorded together. */
const notingWaitMs = 250

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const satisfies readonly ObjectKind[]
const defaultWorkers: Readonly<Record<ObjectKind, number>> = {
  Depot: 2,
  Module: 4,
  Provider: 4,
  Version: 4,
}

/** Works until it is stopped. */
export async function startSync(options: SyncOptions): Promise<Sync> {
  const { objects, log, metrics, timers, tries = 1 } = options
  const timings = { ...defaultTimings, ...options.timings }
  const clock = options.clock ?? Date.now
  const queues = new Map<ObjectKind, Queue>()
  const wake = (ref: StoredRef, priority: Priority): void => {
    if (options.dryRun?.isAsked(ref) !== false) queues.get(ref.kind)?.add(keyOf(ref), priority)
  }
  const workersOf = (kind: ObjectKind) => options.workers?.[kind] ?? defaultWorkers[kind]
  await objects.ready
  const removals = await Removals.open(objects.notes, log)
  const context: Context = {
    ...options,
    audit: options.audit ?? auditTo(log),
    clock,
    timings,
    metrics: syncMetrics(metrics, {
      states: () => versionStates(objects),
      heldRemovals: () => heldRemovals(objects),
      heldBack: () => heldBackCount(objects),
      substitutions: () => recentSubstitutions(objects, clock()),
    }),
    held: new HeldArchives(timings.heldMs, options.spool),
    slots: new HostSlots(Math.ceil(workersOf('Version') / 2), () =>
      queues.get('Version')?.workOn(),
    ),
    inUse: new ArchivesInUse(),
    docsAllowance: new DocsAllowance(clock),
    comparisonAllowance: new DocsAllowance(clock, 2000),
    pages: new SharedResults({ maxEntries: 20, clock }),
    providerFiles: new SharedResults({ maxEntries: 20, clock }),
    repositories: new SharedResults({ maxEntries: 100, keptMs: 0, clock }),
    removals,
    signers: new FirstSigners(),
    wake,
    verified: new Set(),
    unsourced: new Map(),
    uncompared: new Map(),
    awaited: new AwaitedReleases(),
    outdated: new Map(),
    unaged: new Map(),
    ruled: new Map(),
    relisted: new Set(),
    pollSinceMs: pollSinceMs(options, clock),
  }
  let worked = 0
  for (const kind of kinds) {
    const reconcile = (key: string, signal: AbortSignal) => {
      worked += 1
      return reconcilers[kind](context, refFrom(kind, key), signal)
    }
    const acquire = (line: string, key: string) => {
      const [host = ''] = line.split(' ')
      return context.slots.take(host, key)
    }
    const workers = workersOf(kind)
    const rest = { log, metrics, tries, ...(timers && { timers }) }
    queues.set(kind, new Queue({ kind, workers, reconcile, acquire, ...rest }))
  }
  const leaving = new Queue({
    kind: 'Archive',
    workers: 2,
    reconcile: (id) => removeLeft(context, id),
    log,
    metrics,
    tries,
  })
  removals.onAdd = (id) => leaving.add(id, 'poll')
  // It takes a while to record many Versions, and they are stored one after the other.
  let notingMs = 0
  const noting = new Loop(async () => {
    const startMs = performance.now()
    await note(context)
    notingMs = performance.now() - startMs
    return Number.POSITIVE_INFINITY
  })
  let isNoting = false
  const forget = objects.onChange((ref, before, after) => {
    keepInStorage(context, before, after)
    if (isNoting && hasOtherArchive(before, after)) noting.schedule(notingWaitMs + 50 * notingMs)
    if (before !== undefined && after === undefined) removals.unwanted.delete(before.metadata.uid)
    for (const [affected, priority] of affectedBy(context, ref, before, after)) {
      wake(affected, priority)
    }
  })
  await leaveMissing(context)
  isNoting = true
  const ungrant = options.onGrantChange?.((namespace) => {
    for (const version of objects.list('Version', { namespace })) {
      if (isRefused(version)) wake(refOf(version), 'user')
    }
  })
  const unpoliced = options.installation?.onChange(() => {
    for (const kind of ['Depot', 'Version'] as const) {
      for (const object of objects.list(kind)) wake(refOf(object), 'user')
    }
  })
  for (const kind of kinds) for (const object of objects.list(kind)) wake(refOf(object), 'listing')
  if (context.dryRun === undefined) {
    for (const { id } of removals.all) leaving.add(id, 'listing')
  }
  for (const queue of [...queues.values(), leaving]) queue.start()
  if (context.dryRun === undefined) void sweepPublications(context)
  const stopSweeping = sweepDaily(context, options.sweepDelete === true)
  return {
    idle: async () => {
      // Queues give work to each other, so all have to be idle in one round.
      for (let seen = -1; seen !== worked; ) {
        seen = worked
        for (const queue of [...queues.values(), leaving]) await queue.idle()
      }
    },
    failing: () => [
      ...[...queues].flatMap(([kind, { failing }]) => [...failing].map((key) => `${kind} ${key}`)),
      ...[...leaving.failing].map((id) => `Removal of ${removals.get(id)?.object.metadata.name}`),
    ],
    nextTryMs: () => {
      const times = [...queues.values()].flatMap((queue) => queue.nextTryMs ?? [])
      return times.length === 0 ? undefined : Math.min(...times)
    },
    stop: async () => {
      forget()
      ungrant?.()
      unpoliced?.()
      await stopSweeping()
      await Promise.all([...queues.values(), leaving].map((queue) => queue.stop()))
      await noting.close()
      await note(context)
      await context.held.close()
    },
  }
}

async function note(context: Context): Promise<void> {
  await noteStored(context).catch((err: unknown) => {
    context.log.warn({ err }, 'the next run does not know which archives are stored')
  })
}

function hasOtherArchive(before: StoredObject | undefined, after: StoredObject | undefined) {
  if ((after ?? before)?.kind !== 'Version') return false
  return !isDeepStrictEqual(artifactOf(before), artifactOf(after))
}

const artifactOf = (version: StoredObject | undefined) => version && versionStatus(version).artifact

const reconcilers: Readonly<
  Record<
    ObjectKind,
    (context: Context, ref: StoredRef, signal: AbortSignal) => Promise<Reconciled | undefined>
  >
> = {
  Depot: reconcileDepot,
  Module: reconcileModule,
  Provider: reconcileProvider,
  Version: (context, ref, signal) =>
    context.dryRun === undefined
      ? reconcileVersion(context, ref, signal)
      : foresee(context, ref, context.dryRun, signal),
}

/** A plan asks upstream also right after a sync. */
function pollSinceMs({ dryRun, pollAtStart }: SyncOptions, clock: Clock): number {
  if (dryRun !== undefined) return Number.POSITIVE_INFINITY
  return pollAtStart === true ? clock() : 0
}

/**
 * Keeps track of the archive of a Version whose file a person removed, or which lost its status. A cluster that lost its
 * records keeps all archives.
 */
function keepInStorage(
  context: Context,
  version: StoredObject | undefined,
  after: StoredObject | undefined,
): void {
  if (!context.objects.isFolder || context.dryRun !== undefined) return
  const kind = (after ?? version)?.kind
  const isParent = kind === 'Module' || kind === 'Provider'
  if (isParent && version !== undefined && after === undefined) void isMended(context, version)
  if (kind !== 'Version') return
  const isStored = version !== undefined && versionStatus(version).artifact !== undefined
  if (after !== undefined) {
    if (isStored && !isStoredAs(version, after)) context.removals.hold(version)
    if (!isStored && versionStatus(after).artifact) context.removals.release(after)
    return
  }
  if (version === undefined || version.metadata.finalizers.length === 0) return
  const { deletionTimestamp, ownerAbsent } = version.metadata
  if (deletionTimestamp !== undefined && ownerAbsent !== true) return
  const left = async () => (await isMended(context, version)) || leave(context, version)
  left().catch((err: unknown) => {
    const key = keyOf(version.metadata)
    context.log.warn({ key, err }, 'the archive of a Version that disappeared stays in storage')
  })
}

/** Whether a Version waits for a grant. */
function isRefused(version: StoredObject): boolean {
  const reason = readyIn(versionStatus(version).conditions)?.reason
  return reason === 'StorageNotGranted' || reason === 'ArchiveNotRemoved'
}

function refFrom(kind: ObjectKind, key: string): StoredRef {
  const slash = key.indexOf('/')
  return { kind, namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}
