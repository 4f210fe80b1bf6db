/**
 * Fills the registry. A reconciler for each kind brings objects to their specs from the state that it finds, so any step can
 * be repeated after a kill. Modules and Providers get a Version for each archive, the archives of Versions are fetched,
 * checked and stored, and Depots keep Modules and Providers in sync with their upstreams.
 */

import { isDeepStrictEqual } from 'node:util'
import type { Provider, ProviderConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { SharedResults } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import {
  type ObjectKind,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../records/store/store.ts'
import { type Priority, Queue, type Reconciled } from '../queue/queue.ts'
import type { Context, SyncOptions } from './context.ts'
import { DepotsInConflict } from './depot/conflicts.ts'
import { reconcileDepot } from './depot/depot.ts'
import { acceptAnnotation } from './depot/known.ts'
import { appliedAnnotation, depotLabel } from './depot/made.ts'
import { recentSubstitutions, syncMetrics, versionStates } from './metrics.ts'
import { keyOf, pollAnnotation, syncAnnotation } from './objects.ts'
import { confirmAnnotation, heldRemovals } from './parent/children.ts'
import { heldBackCount } from './parent/held-back.ts'
import { reconcileProvider } from './parent/provider.ts'
import { auditTo } from './parent/quarantine.ts'
import { reconcileModule } from './parent/reconcile-parent.ts'
import { configOf, parentsIn, publishedParents, versionsOf } from './parent/versions.ts'
import { readyIn } from './status.ts'
import { sweepDaily } from './sweep.ts'
import { defaultTimings } from './timings.ts'
import { interfacesAffected } from './version/document.ts'
import {
  ArchivesInUse,
  AwaitedReleases,
  DocsAllowance,
  FirstSigners,
  HeldArchives,
  HostSlots,
} from './version/in-work.ts'
import { keepInStorage, leaveMissing, StoredMemory } from './version/missing.ts'
import { foresee } from './version/outlook.ts'
import { Removals } from './version/removals.ts'
import { removeLeft } from './version/remove.ts'
import { sweepPublications } from './version/upload.ts'
import { reconcileVersion } from './version/version.ts'
import { versionStatus } from './version/work.ts'

export { startBindings } from './bindings.ts'
export type { PolicyDecision, SyncOptions, VersionOutlook } from './context.ts'
export { itemProblem, itemsOf, policiesOf, policyOf } from './depot/configs.ts'
export { addressOf } from './depot/known.ts'
export { freeName, keyOf, nextPoll, objectName, pollAnnotation, resourceOf } from './objects.ts'
export { nameFor } from './parent/children.ts'
export { type HeldVersion, heldBackCount, heldBackIn } from './parent/held-back.ts'
export {
  identityOf,
  identityOfStored,
  ownedBy,
  parentOfVersion,
  placedFor,
  publishedFor,
  versionOfStored,
} from './parent/versions.ts'
export {
  conditionFalse,
  conditionTrue,
  conditionUnknown,
  type StatusChange,
  writeStatus,
} from './status.ts'
export { jittered, msOf, timeOf } from './timings.ts'
export { scanPolicyOf, storedPlaceOf } from './version/plan.ts'
export { eventNote } from './version/removals.ts'
export { readStored, storeFile, storeSmall } from './version/store.ts'
export { notePublication } from './version/upload.ts'

export interface Sync {
  /** Resolves when nothing is left to do now; work that is due later does not count. */
  idle(): Promise<void>
  /** Objects whose last work failed and is tried again, such as `Version platform/vpc-1-2-0`, with its error. */
  failing(): Map<string, unknown>
  /** When the next of them is tried, in milliseconds since 1970. */
  nextTryMs(): number | undefined
  /**
   * Aborts running work, and resolves when it has ended. Fetched archives that are not stored yet are dropped.
   *
   * @param options.isLost whether another process writes to the records now: then nothing is written at the end
   */
  stop(options?: { readonly isLost?: boolean }): Promise<void>
}

const kinds = ['Depot', 'Module', 'Provider', 'Version'] as const satisfies readonly ObjectKind[]
type SyncedKind = (typeof kinds)[number]
const defaultWorkers: Readonly<Record<SyncedKind, number>> = {
  Depot: 2,
  Module: 4,
  Provider: 4,
  Version: 4,
}

/** Works until it is stopped. */
export async function startSync(options: SyncOptions): Promise<Sync> {
  await options.objects.ready
  const queues = new Map<ObjectKind, Queue>()
  const context = await contextOf(options, queues)
  const tally = { worked: 0 }
  for (const kind of kinds) queues.set(kind, queueOf(kind, context, options, tally))
  const leaving = queueOfRemovals(context, options)
  const all = [...queues.values(), leaving]
  const memory = new StoredMemory(context)
  const unfollow = [followChanges(context, memory)]
  await leaveMissing(context)
  memory.start()
  unfollow.push(followGrants(context), followPolicy(context))
  wakeAll(context, leaving)
  for (const queue of all) queue.start()
  if (context.dryRun === undefined) void sweepPublications(context)
  const stopSweeping = sweepDaily(context, options.sweepDelete === true)
  return {
    idle: async () => {
      // Queues give work to each other, so all have to be idle in one round.
      for (let seen = -1; seen !== tally.worked; ) {
        seen = tally.worked
        for (const queue of all) await queue.idle()
      }
    },
    failing: () => {
      const titled = [...queues].flatMap(([kind, { failing }]) =>
        Array.from(failing, ([key, error]) => [`${kind} ${key}`, error] as const),
      )
      const removals = Array.from(
        leaving.failing,
        ([id, error]) => [titleOfRemoval(context, id), error] as const,
      )
      return new Map([...titled, ...removals])
    },
    nextTryMs: () => {
      const times = [...queues.values()].flatMap((queue) => queue.nextTryMs ?? [])
      return times.length === 0 ? undefined : Math.min(...times)
    },
    stop: async ({ isLost = false } = {}) => {
      for (const end of unfollow) end()
      await stopSweeping()
      await Promise.all(all.map((queue) => queue.stop()))
      if (!isLost) await writePolls(context)
      await memory.close({ isLost })
      await context.held.close()
    },
  }
}

/** A folder gets the facts of the last poll with the next change of a Depot, otherwise at the end: a poll writes nothing. */
async function writePolls({ objects, polled, log }: Context): Promise<void> {
  for (const depot of objects.list('Depot')) {
    const key = keyOf(depot.metadata)
    if (!polled.has(key)) continue
    await objects.writeStatus(depot, depot.status).catch((err: unknown) => {
      log.warn({ key, err }, 'the counts of the last poll were not written')
    })
  }
}

const workersOf = ({ workers }: SyncOptions, kind: SyncedKind): number =>
  workers?.[kind] ?? defaultWorkers[kind]

async function contextOf(
  options: SyncOptions,
  queues: ReadonlyMap<ObjectKind, Queue>,
): Promise<Context> {
  const { objects, log, clock = Date.now, dryRun } = options
  const timings = { ...defaultTimings, ...options.timings }
  const hostSlots = Math.ceil(workersOf(options, 'Version') / 2)
  return {
    ...options,
    audit: options.audit ?? auditTo(log),
    clock,
    timings,
    metrics: syncMetrics(options.metrics, {
      states: () => versionStates(objects),
      heldRemovals: () => heldRemovals(objects),
      heldBack: () => heldBackCount(objects),
      substitutions: () => recentSubstitutions(objects, clock()),
    }),
    held: new HeldArchives(timings.heldMs, options.spool),
    slots: new HostSlots(hostSlots, () => queues.get('Version')?.workOn()),
    inUse: new ArchivesInUse(),
    docsAllowance: new DocsAllowance(clock),
    comparisonAllowance: new DocsAllowance(clock, 2000),
    pages: new SharedResults({ maxEntries: 20, clock }),
    providerFiles: new SharedResults({ maxEntries: 20, clock }),
    repositories: new SharedResults({ maxEntries: 100, keptMs: 0, clock }),
    removals: await Removals.open(objects.notes, log),
    signers: new FirstSigners(),
    wake: (ref, priority) => {
      if (dryRun?.isAsked(ref) !== false) queues.get(ref.kind)?.add(keyOf(ref), priority)
    },
    verified: new Set(),
    unsourced: new Map(),
    uncompared: new Map(),
    awaited: new AwaitedReleases(),
    outdated: new Map(),
    unaged: new Map(),
    ruled: new Map(),
    relisted: new Set(),
    polled: new Set(),
    listed: new Set(),
    pollSinceMs: pollSinceMs(options, clock),
  }
}

/** A plan asks upstream also right after a sync. */
function pollSinceMs({ dryRun, pollAtStart }: SyncOptions, clock: Clock): number {
  if (dryRun !== undefined) return Number.POSITIVE_INFINITY
  return pollAtStart === true ? clock() : 0
}

const reconcilers: Readonly<
  Record<
    SyncedKind,
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

/** @param tally counts what was worked on */
function queueOf(
  kind: SyncedKind,
  context: Context,
  options: SyncOptions,
  tally: { worked: number },
): Queue {
  const { log, metrics, timers, tries = 1 } = options
  return new Queue({
    kind,
    workers: workersOf(options, kind),
    reconcile: (key, signal) => {
      tally.worked += 1
      return reconcilers[kind](context, refFrom(kind, key), signal)
    },
    acquire: (line, key) => {
      const [host = ''] = line.split(' ')
      return context.slots.take(host, key)
    },
    log,
    metrics,
    tries,
    ...(timers && { timers }),
  })
}

function refFrom(kind: ObjectKind, key: string): StoredRef {
  const slash = key.indexOf('/')
  return { kind, namespace: key.slice(0, slash), name: key.slice(slash + 1) }
}

/** The queue of archives that Versions left in storage. */
function queueOfRemovals(context: Context, { log, metrics, tries = 1 }: SyncOptions): Queue {
  const reconcile = (id: string) => removeLeft(context, id)
  const leaving = new Queue({ kind: 'Archive', workers: 2, reconcile, log, metrics, tries })
  context.removals.onAdd = (id) => leaving.add(id, 'poll')
  return leaving
}

function titleOfRemoval({ removals }: Context, id: string): string {
  const removed = removals.get(id)
  return `Removal of ${removed === undefined ? id : keyOf(removed.object.metadata)}`
}

function followChanges(context: Context, memory: StoredMemory): () => void {
  const conflicts = new DepotsInConflict(context)
  return context.objects.onChange((ref, before, after) => {
    keepInStorage(context, before, after)
    memory.follow(before, after)
    if (before !== undefined && after === undefined) {
      context.removals.unwanted.delete(before.metadata.uid)
    }
    for (const [affected, priority] of affectedBy(context, ref, before, after)) {
      context.wake(affected, priority)
    }
    if (conflicts.follow(ref, after)) context.wake(ref, 'user')
    if (after !== undefined || ref.kind === 'Version') return
    for (const depot of conflicts.waitingFor(ref)) context.wake(depot, 'user')
  })
}

function followGrants({ objects, wake, onGrantChange }: Context): () => void {
  const forget = onGrantChange?.((namespace) => {
    for (const version of objects.list('Version', { namespace })) {
      if (waitsForGrant(version)) wake(refOf(version), 'user')
    }
  })
  return forget ?? (() => undefined)
}

function waitsForGrant(version: StoredObject): boolean {
  const reason = readyIn(versionStatus(version).conditions)?.reason
  return reason === 'StorageNotGranted' || reason === 'ArchiveNotRemoved'
}

function followPolicy({ objects, wake, installation }: Context): () => void {
  const forget = installation?.onChange(() => {
    for (const kind of ['Depot', 'Version'] as const) {
      for (const object of objects.list(kind)) wake(refOf(object), 'user')
    }
  })
  return forget ?? (() => undefined)
}

/** Begins with everything that is there. */
function wakeAll({ objects, removals, wake, dryRun }: Context, leaving: Queue): void {
  for (const kind of kinds) for (const object of objects.list(kind)) wake(refOf(object), 'listing')
  if (dryRun !== undefined) return
  for (const { id } of removals.all) leaving.add(id, 'listing')
}

/** Lists the objects that need work after a change. A change of a status alone only matters to the parent. */
function* affectedBy(
  { apiGroup, objects }: Pick<Context, 'apiGroup' | 'objects'>,
  ref: StoredRef,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): Generator<readonly [StoredRef, Priority]> {
  const isOwn = isOfInterest(apiGroup, before, after)
  if (isOwn) yield [ref, 'user']
  const { namespace } = ref
  if (ref.kind === 'Version') {
    if (after !== undefined && versionStatus(after).readmeDocs === '') yield [ref, 'poll']
    for (const { kind, name } of (after ?? before)?.metadata.ownerReferences ?? []) {
      if (kind === 'Module' || kind === 'Provider') yield [{ kind, namespace, name }, 'user']
    }
    for (const parent of publishedParents(objects, after ?? before)) yield [parent, 'user']
  }
  if (ref.kind === 'Module') {
    for (const version of interfacesAffected(objects, before, after)) yield [version, 'poll']
  }
  if (ref.kind === 'Provider' && after !== undefined && isOtherSource(before, after)) {
    for (const version of versionsOf({ objects }, after)) yield [refOf(version), 'poll']
  }
  if (!isOwn) return
  const label = depotLabel(apiGroup)
  if (ref.kind === 'Module' || ref.kind === 'Provider') {
    const adopting = after?.metadata.annotations[`${apiGroup}/adopt`]
    const owners = [before, after].map((one) => one?.metadata.labels[label])
    for (const name of new Set([...owners, adopting])) {
      if (name !== undefined) yield [{ kind: 'Depot', namespace, name }, 'user']
    }
  }
  if (ref.kind !== 'Depot' || after !== undefined) return
  const filter = { namespace, label: { name: label, value: ref.name } }
  for (const parent of parentsIn(objects, filter)) yield [refOf(parent), 'user']
}

/** Whether the registry or the config of a Provider names another source repository. */
function isOtherSource(before: StoredObject | undefined, after: StoredObject): boolean {
  const sourceOf = (one: StoredObject | undefined) => {
    const { sourceRepository, docs }: Partial<ProviderConfig> = configOf(one) ?? {}
    const { resolvedSourceRepository } = (one?.status ?? {}) as NonNullable<Provider['status']>
    return [sourceRepository, docs, resolvedSourceRepository]
  }
  return !isDeepStrictEqual(sourceOf(before), sourceOf(after))
}

/** Whether fields changed that reconcilers do not write. */
function isOfInterest(
  apiGroup: string,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): boolean {
  if (before === undefined || after === undefined) return true
  const annotations = [
    syncAnnotation(apiGroup),
    pollAnnotation(apiGroup),
    appliedAnnotation(apiGroup),
    `${apiGroup}/orphan-archive`,
    `${apiGroup}/adopt`,
    acceptAnnotation(apiGroup),
    confirmAnnotation(apiGroup),
  ]
  const [a, b] = [before.metadata, after.metadata]
  return (
    a.uid !== b.uid ||
    a.generation !== b.generation ||
    a.deletionTimestamp !== b.deletionTimestamp ||
    annotations.some((name) => a.annotations[name] !== b.annotations[name]) ||
    !isDeepStrictEqual(a.labels, b.labels) ||
    !isDeepStrictEqual(a.ownerReferences, b.ownerReferences)
  )
}
