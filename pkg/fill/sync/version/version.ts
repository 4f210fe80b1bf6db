/** Brings one Version to its spec: its archive fetched, checked, stored, and reported in its status. */

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Reason } from '../../../base/errors/errors.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { ruleBasis } from '../depot/configs.ts'
import { depotOf } from '../depot/made.ts'
import { failureOf, reportFailure } from '../failure.ts'
import {
  addFinalizer,
  handled,
  keyOf,
  latestOf,
  requestOf,
  resetForceSync,
  resourceOf,
} from '../objects.ts'
import { quarantineStored } from '../parent/quarantine.ts'
import { parentOfVersion } from '../parent/versions.ts'
import { type StatusChange, suspend, writeStatus } from '../status.ts'
import { jittered, msOf, soonest } from '../timings.ts'
import { compareStored, refusalBasis, requiredEarlier } from './comparison.ts'
import { document } from './document.ts'
import { wakeRelease } from './in-work.ts'
import { attemptedNow, nextStep, refusedWaitMs, situationOf } from './next-step.ts'
import { obtain } from './obtain.ts'
import { planOf, recordedPlace, storedPlaceOf } from './plan.ts'
import { keepSource, type SourceNeed } from './provider-source.ts'
import { heldMs, removeFiles, removeVersion } from './remove.ts'
import { moveArchive, takeBack } from './reuse.ts'
import {
  failedStatus,
  keptStatus,
  placeFields,
  reportSubstitution,
  substitutionOf,
  waitingStatus,
  withSubstitution,
} from './status.ts'
import { verificationDueMs } from './store.ts'
import { syncUpload } from './upload.ts'
import {
  isModuleVersion,
  type Situation,
  type StoragePlace,
  type StoredState,
  type SyncAttempt,
  type VersionPlan,
  type VersionStatus,
  type VersionWork,
  versionStatus,
} from './work.ts'

export async function reconcileVersion(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  // The queue may have taken a slot for a Version that waited.
  try {
    const object = context.objects.get('Version', ref.namespace, ref.name)
    if (object !== undefined) return await reconcileObject(context, object, signal)
    context.outdated.delete(keyOf(ref))
    context.unaged.delete(keyOf(ref))
    context.ruled.delete(keyOf(ref))
    context.uncompared.delete(keyOf(ref))
    context.awaited.end(keyOf(ref))
    return undefined
  } finally {
    context.slots.free(keyOf(ref))
    context.signers.ended(keyOf(ref))
  }
}

async function reconcileObject(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) {
    wakeRelease(context, object)
    return removeVersion(context, object, signal)
  }
  const attempt: SyncAttempt = {}
  try {
    const parent = parentOfVersion(context, resourceOf('Version', object))
    const changesMs = await quarantineStored(context, object, parent)
    const done = await syncObject(context, latestOf(context, object), attempt, signal)
    if (changesMs === undefined || done?.waitsFor !== undefined) return done
    return soonest(done?.afterMs, changesMs - context.clock())
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return await failed(context, object, withLoss(failure, attempt), attempt)
  }
}

async function syncObject(
  context: Context,
  object: StoredObject,
  attempt: SyncAttempt,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const version = resourceOf('Version', object)
  const work = { object, version, attempt, signal }
  const { suspend: isSuspended, upload } = version.spec
  if (isSuspended !== true && upload !== undefined) {
    const done = await syncUpload(context, work)
    const { placed } = done
    if (placed === undefined) return done
    const need = { signal, isChecked: placed.isChecked, request: attempt.request }
    return keepBelongings(context, object, placed, need)
  }
  // Platforms that were published may wait for this one, which was not published with them.
  const done = isSuspended
    ? await suspend(context, object, { syncStatus: 'Suspended' })
    : await syncVersion(context, work)
  wakeRelease(context, object)
  return done
}

/** Upstream's answer alone does not say that the archive was stored before. */
function withLoss(failure: FillError, { isLost = false }: SyncAttempt): FillError {
  const { reason, message } = failure
  if (!isLost || reason !== 'UpstreamNotFound') return failure
  const told = `the stored archive is missing or altered, and upstream answered: ${message}`
  const remedy = 'If upstream no longer has it, restore the archive from a backup'
  return new FillError(reason, `${told}. ${remedy}`, { cause: failure })
}

async function failed(
  context: Context,
  object: StoredObject,
  failure: FillError,
  attempt: SyncAttempt,
): Promise<Reconciled> {
  const { reason, terminal } = failure
  const isRule = reason === 'RuleRefused'
  if (isRule) noteRuled(context, object)
  const { request, outdated } = attempt
  if (verifyReasons.has(reason)) context.metrics.verifyFailed(reason)
  if (!terminal && outdated !== undefined) context.outdated.set(keyOf(object.metadata), outdated)
  const { contentDigest, from = '' } = outdated ?? {}
  const substitution = verifyReasons.has(reason)
    ? substitutionOf(versionStatus(object), { contentDigest }, { from, nowMs: context.clock() })
    : undefined
  reportSubstitution(context, object, substitution)
  const result = await reportFailure<VersionStatus>(context, object, failure, (status) => {
    const change = failedStatus(status, failure, attempt)
    const fields = {
      ...change.fields,
      ...attempt.comparison?.fields,
      ...withSubstitution(status, substitution),
    }
    const conditions = { ...change.conditions, ...attempt.comparison?.conditions }
    if (!terminal) return { fields, conditions }
    const attempted = attemptedNow(context, attempt, status?.attempted, isRule)
    return { fields: { ...fields, attempted, ...handled(request, context.clock()) }, conditions }
  })
  const current = latestOf(context, object)
  await resetForceSync(context, current, request)
  // Only another rule or another signature helps, which its Depot looks for.
  if (isRule) return result
  const { attempted } = versionStatus(current)
  const { uid } = current.metadata
  return soonest(result.afterMs, attempted && refusedWaitMs(context, uid, attempted))
}

function noteRuled(context: Context, object: StoredObject): void {
  const version = resourceOf('Version', object)
  const depot = depotOf(context, parentOfVersion(context, version))
  const rules = ruleBasis(context, depot, version.spec.type)
  context.ruled.set(keyOf(object.metadata), { atMs: context.clock(), rules })
}

const verifyReasons: ReadonlySet<Reason> = new Set<Reason>([
  'Unsigned',
  'SignatureInvalid',
  'SigningKeyChanged',
  'ChecksumMismatch',
  'UnsafeArchive',
  'NotAnArchive',
])

/** Syncs a Version whose archive comes from a source. @throws FillError, ArchiveError, RegistryError, ApiError */
async function syncVersion(context: Context, given: VersionWork): Promise<Reconciled | undefined> {
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

const read = (object: StoredObject) => ({ object, version: resourceOf('Version', object) })

async function keep(
  context: Context,
  { object, version }: VersionWork,
  plan: VersionPlan,
  { stored: { seen }, isOfSource }: Pick<Situation, 'stored' | 'isOfSource'>,
): Promise<void> {
  await writeStatus<VersionStatus>(context, object, (status): StatusChange<VersionStatus> => {
    // An archive of another source keeps that address, so that a policy that denies the source still holds.
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
    { ...at, parent },
    { signal, isChecked: stored.isChecked, request },
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
async function keepBelongings(
  context: Context,
  object: StoredObject,
  at: StoragePlace & Pick<VersionPlan, 'parent'>,
  need: SourceNeed,
): Promise<Reconciled> {
  const undocumentedMs = await document(context, latestOf(context, object), at, need)
  const uncomparedMs = await compareStored(
    context,
    latestOf(context, object),
    at.parent,
    need.signal,
  )
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

/** Names what an attempt depends on: other limits or allowed hosts may accept an archive that was refused. */
function attemptKey({ limits, policy }: Context, sourceKey: string): string {
  const text = JSON.stringify([sourceKey, limits, policy])
  return `sha256:${hash('sha256', text).slice(0, 32)}`
}
