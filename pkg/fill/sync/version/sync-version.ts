import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { ruleBasis } from '../depot/configs.ts'
import { depotOf } from '../depot/made.ts'
import {
  addFinalizer,
  handled,
  keyOf,
  latestOf,
  requestOf,
  resetForceSync,
  resourceOf,
} from '../objects.ts'
import { type StatusChange, writeStatus } from '../status.ts'
import { jittered, msOf, soonest, timeOf } from '../timings.ts'
import { heldContent } from './aged.ts'
import { compareStored, refusalBasis, requiredEarlier } from './comparison.ts'
import { document } from './document.ts'
import { obtain } from './obtain.ts'
import { planOf, recordedPlace, storedPlaceOf, upstreamOf } from './plan.ts'
import { keepSource, type SourceNeed } from './provider-source.ts'
import { heldMs, removeFiles } from './remove.ts'
import { moveArchive, takeBack } from './reuse.ts'
import { keptStatus, placeFields, waitingStatus } from './status.ts'
import { verificationDueMs, verifyStored } from './store.ts'
import {
  isModuleVersion,
  type Situation,
  type StoragePlace,
  type StoredState,
  type SyncAttempt,
  type UpstreamOffer,
  type VersionPlan,
  type VersionStatus,
  type VersionWork,
  versionStatus,
} from './work.ts'

/** Syncs a Version whose archive comes from a source. @throws FillError, ArchiveError, RegistryError, ApiError */
export async function syncVersion(
  context: Context,
  given: VersionWork,
): Promise<Reconciled | undefined> {
  const { version, attempt, signal } = given
  const key = keyOf(version.metadata)
  // Taken now: a change that is noticed during this work is for the next run.
  attempt.outdated = context.outdated.get(key)
  context.outdated.delete(key)
  const plan = planOf(context, version)
  const object = await addFinalizer(context, given.object)
  const work = { ...given, object }
  const { request, afterMs } = requestOf(context, object)
  attempt.request = request

  if (version.status?.artifact?.configName === undefined) {
    const returned = await takeBack(context, object, plan, signal)
    if (returned !== undefined) return syncVersion(context, { ...given, ...read(returned) })
  }
  const situation = await situationOf(context, work, plan)
  const { from, stored, isStored, isElsewhere, isOfSource, isLost } = situation
  if (isStored && isElsewhere && !isLost) {
    const sourceKey = isOfSource ? plan.sourceKey : undefined
    const moved = await moveArchive(context, object, { from, to: plan, sourceKey, signal })
    if (moved !== false) return moved && syncVersion(context, { ...given, ...read(moved) })
  }
  attempt.isLost = isLost
  const earlier = requiredEarlier(context, version, plan)
  const rules = ruleBasis(context, depotOf(context, plan.parent), plan.type)
  attempt.key = attemptKey(context, plan.sourceKey + refusalBasis(earlier) + rules)
  const isAwaited = !isStored && earlier === 'awaited'
  const next = await nextStep(context, work, plan, { ...situation, isAwaited })
  const keepOutdated = () => attempt.outdated && context.outdated.set(key, attempt.outdated)
  switch (next.step) {
    case 'queue':
      keepOutdated()
      return { waitsFor: next.waitsFor }
    case 'await':
      context.uncompared.set(key, 'awaited')
      return soonest(afterMs)
    case 'refused':
      return soonest(next.leftMs, jittered(context.timings.stalledMs, object.metadata.uid))
    case 'keep':
      await keep(context, work, plan, { stored, isOfSource: next.isOfSource })
      break
    case 'wait':
      await writeStatus<VersionStatus>(context, object, () => waitingStatus(next.message))
      break
    case 'obtain':
      if ((await obtain(context, work, plan, { ...situation, offer: next.offer })) === 'awaited') {
        keepOutdated()
        return soonest(afterMs)
      }
  }
  return afterwards(context, work, plan, { afterMs, stored })
}

/** The next step for a Version whose archive is not elsewhere. */
type NextStep =
  /** Versions of other modules ask its host. */
  | { readonly step: 'queue'; readonly waitsFor: string }
  /** An earlier version has to be stored first. Its Module wakes this one when it is stored or refused. */
  | { readonly step: 'await' }
  /** The archive of upstream was refused, and is to be fetched again later. */
  | { readonly step: 'refused'; readonly leftMs: number }
  /** The stored archive is the wanted one. `isOfSource`: it is known to come from the source that the spec names. */
  | { readonly step: 'keep'; readonly isOfSource: boolean }
  /** The stored archive stays until the policy lets in what upstream has. */
  | { readonly step: 'wait'; readonly message: string }
  | { readonly step: 'obtain'; readonly offer: UpstreamOffer }

/** Decides about the next step for a Version, and asks upstream for that if necessary. Stores nothing. @throws FillError */
export async function nextStep(
  context: Context,
  work: VersionWork,
  plan: VersionPlan,
  situation: Situation & { readonly isAwaited: boolean },
): Promise<NextStep> {
  const { attempt, version } = work
  const { metadata, status } = version
  const { isOfSource } = situation
  const wasRefused = status?.drift !== undefined || status?.attempted !== undefined
  const mayHaveChanged = attempt.outdated !== undefined || wasRefused
  if (situation.isKept && !mayHaveChanged) return { step: 'keep', isOfSource }
  if (situation.isAwaited) return { step: 'await' }
  // Modules take turns, so that each has its newest version before one has all of them.
  if (!context.slots.take(plan.host, keyOf(metadata))) {
    return { step: 'queue', waitsFor: `${plan.host} ${plan.configName}` }
  }
  const offer = await upstreamOf(context, plan, work)
  const refused = attempt.request === undefined ? refusedBefore(work) : undefined
  const leftMs =
    refused === undefined ? 0 : refusedWaitMs(context, work.object.metadata.uid, refused)
  if (leftMs > 0) return { step: 'refused', leftMs }
  if (isOffered(offer.revision, work, plan, situation)) return { step: 'keep', isOfSource: true }
  const message = await heldContent(context, work, { plan, offer, situation })
  return message === undefined ? { step: 'obtain', offer } : { step: 'wait', message }
}

const read = (object: StoredObject) => ({ object, version: resourceOf('Version', object) })

export async function situationOf(
  context: Context,
  { object, version, attempt, signal }: VersionWork,
  plan: VersionPlan,
): Promise<Situation> {
  const { artifact, upstream } = version.status ?? {}
  const from = storedPlaceOf(context, version)
  const isElsewhere = from.placeId !== plan.placeId
  const isOfSource = artifact?.sourceKey === plan.keyIn(from)
  // What upstream no longer has is kept, even from a source that the module had before.
  const isSame = isOfSource || upstream === 'Gone'
  const isStored = artifact?.fileName !== undefined
  const stored: StoredState = isStored
    ? await verifyStored(context, object, from, { signal, now: !isSame || isElsewhere })
    : { state: 'whole', isChecked: false, seen: {} }
  const isLost = stored.state === 'lost'
  const isCurrent = isStored && isSame
  const isKept = isCurrent && !isElsewhere && !isLost && attempt.request === undefined
  return { from, stored, isStored, isElsewhere, isOfSource, isCurrent, isLost, isKept }
}

/**
 * Whether the stored archive is the one that upstream offers. The revision of a provider is the digest of its archive, from
 * whatever registry it comes.
 */
function isOffered(
  revision: string,
  { version: { status }, attempt }: Pick<VersionWork, 'version' | 'attempt'>,
  { type }: VersionPlan,
  { isKept, isStored, isElsewhere, isLost }: Situation,
): boolean {
  const isThere = isKept || (type === 'Provider' && isStored && !isElsewhere && !isLost)
  return isThere && attempt.request === undefined && revision === status?.artifact?.revision
}

async function keep(
  context: Context,
  { object, version }: VersionWork,
  plan: VersionPlan,
  { stored: { seen }, isOfSource }: Pick<Situation, 'stored' | 'isOfSource'>,
): Promise<void> {
  await writeStatus<VersionStatus>(context, object, (status): StatusChange<VersionStatus> => {
    // What another source gave keeps its address, so that a policy that denies that source still holds.
    const { fields, conditions } = keptStatus(status, isOfSource ? { source: plan } : {})
    // Older releases did not write the place.
    const artifact = fields.artifact && { ...placeFields(plan), ...fields.artifact, ...seen }
    return { fields: { ...fields, artifact }, conditions }
  })
  if (version.status?.synced !== true) context.metrics.ended('Version', 'Synced')
}

/** Finishes the work on a stored archive, and says when to look again. */
async function afterwards(
  context: Context,
  { object, attempt: { request }, signal }: VersionWork,
  { sourceKey, parent }: VersionPlan,
  { afterMs, stored }: { readonly afterMs: number | undefined; readonly stored: StoredState },
): Promise<Reconciled> {
  const { clock, timings } = context
  let current = latestOf(context, object)
  if (request !== undefined) {
    const change = { fields: handled(request, clock()), conditions: {} }
    current = (await writeStatus<VersionStatus>(context, current, () => change)) ?? current
    await resetForceSync(context, current, request)
  }
  const nextReplacedMs = await removeReplaced(context, current)
  const at = storedPlaceOf(context, resourceOf('Version', current))
  const kept = await keepBelongings(
    context,
    current,
    { at, parent },
    {
      signal,
      isChecked: stored.isChecked,
      request,
    },
  )
  if (kept.waitsFor !== undefined) return kept
  const { drift } = versionStatus(current)
  const driftedMs = drift === undefined ? undefined : jittered(timings.stalledMs, sourceKey)
  return soonest(nextReplacedMs, afterMs, kept.afterMs, driftedMs)
}

/**
 * Stores what belongs to a stored archive, such as its documentation, and compares it with the previous version.
 *
 * @returns when to look at all of that again, or at the archive
 */
export async function keepBelongings(
  context: Context,
  object: StoredObject,
  { at, parent }: { readonly at: StoragePlace; readonly parent: StoredObject | undefined },
  need: SourceNeed,
): Promise<Reconciled> {
  const undocumentedMs = await document(context, latestOf(context, object), at, need)
  const uncomparedMs = await compareStored(context, latestOf(context, object), parent, need.signal)
  const source = isModuleVersion(object)
    ? {}
    : await keepSource(context, latestOf(context, object), at, need)
  if (source.waitsFor !== undefined) return source
  const current = latestOf(context, object)
  const { artifact } = versionStatus(current)
  const due = artifact && verificationDueMs(context, current, artifact)
  const checkedMs = due && Math.min(due.verify, due.rehash) - context.clock()
  return soonest(undocumentedMs, source.afterMs, uncomparedMs, checkedMs)
}

/** Removes replaced archives that are old enough. @returns time until the next one is */
async function removeReplaced(context: Context, object: StoredObject): Promise<number | undefined> {
  const { replaced = [] } = versionStatus(object)
  const nowMs = context.clock()
  const removeMs = ({ removeAfter }: { readonly removeAfter: string }) => msOf(removeAfter) ?? 0
  const due = replaced.filter((one) => removeMs(one) <= nowMs)
  if (due.length > 0) {
    const own = storedPlaceOf(context, resourceOf('Version', object))
    const files = due.map((one) => ({
      fileName: one.fileName,
      at: recordedPlace(context, one) ?? own,
    }))
    const { held } = await removeFiles(context, object, files)
    if (held.length > 0) return heldMs
    await writeStatus<VersionStatus>(context, object, (status) => {
      const isDone = (one: object) => due.some((done) => isDeepStrictEqual(one, done))
      const rest = (status?.replaced ?? []).filter((one) => !isDone(one))
      return { fields: { replaced: rest.length > 0 ? rest : undefined }, conditions: {} }
    })
  }
  const left = replaced.filter((one) => !due.includes(one))
  return left.length === 0 ? undefined : Math.min(...left.map(removeMs)) - nowMs
}

type Attempted = NonNullable<VersionStatus['attempted']>

/** Names what an attempt depends on: other limits or allowed hosts may accept an archive that was refused. */
function attemptKey({ limits, policy }: Context, sourceKey: string): string {
  const text = JSON.stringify([sourceKey, limits, policy])
  return `sha256:${hash('sha256', text).slice(0, 32)}`
}

/**
 * Remembers a refusal, for a transfer may have damaged the archive. Undefined if nothing was found to fetch.
 *
 * @param isFinal whether the same archive is refused again whenever it is tried
 */
export function attemptedNow(
  { clock }: Context,
  { key, revision }: SyncAttempt,
  before: Attempted | undefined,
  isFinal: boolean,
): Attempted | undefined {
  if (key === undefined || revision === undefined) return undefined
  const isSame = before?.sourceKey === key && before.revision === revision
  if (isSame && isFinal) return before
  const failures = isSame ? (before.failures ?? 1) + 1 : 1
  return { sourceKey: key, revision, at: timeOf(clock()), failures }
}

/** The refusal of the same archive, if one is remembered. */
function refusedBefore({
  version: { metadata, status },
  attempt: { key, revision },
}: Pick<VersionWork, 'version' | 'attempt'>): Attempted | undefined {
  const { attempted, observedGeneration } = status ?? {}
  const isSame = attempted?.sourceKey === key && attempted?.revision === revision
  return isSame && observedGeneration === metadata.generation ? attempted : undefined
}

/** How long to wait before a refused archive is fetched again; 0 if it is due. */
export function refusedWaitMs(
  { clock, timings, pollSinceMs }: Context,
  uid: string,
  { at, failures = 1 }: Attempted,
): number {
  const atMs = msOf(at) ?? 0
  // Times in a status are whole seconds.
  if (atMs + 1000 <= pollSinceMs) return 0
  const waitMs = Math.min(timings.longestRefusedMs, timings.refusedMs * 2 ** (failures - 1))
  return Math.max(0, atMs + jittered(waitMs, uid) - clock())
}
