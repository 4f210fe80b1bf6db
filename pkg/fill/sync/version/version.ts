/** Brings one Version to its spec: its archive fetched, checked, stored, and reported in its status. */

import type { Reason } from '../../../base/errors/errors.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { ruleBasis } from '../depot/configs.ts'
import { depotOf } from '../depot/made.ts'
import { failureOf, reportFailure } from '../failure.ts'
import { handled, keyOf, latestOf, resetForceSync, resourceOf } from '../objects.ts'
import { quarantineStored } from '../parent/quarantine.ts'
import { parentOfVersion } from '../parent/versions.ts'
import { suspend } from '../status.ts'
import { soonest } from '../timings.ts'
import { wakeRelease } from './in-work.ts'
import { removeVersion } from './remove.ts'
import { failedStatus, reportSubstitution, substitutionOf, withSubstitution } from './status.ts'
import { attemptedNow, refusedWaitMs, syncVersion } from './sync-version.ts'
import { syncUpload } from './upload.ts'
import { type SyncAttempt, type VersionStatus, versionStatus } from './work.ts'

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
    return await failed(context, object, failure, attempt)
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
  if (isSuspended !== true && upload !== undefined) return syncUpload(context, work)
  // Platforms that were published may wait for this one, which was not published with them.
  const done = isSuspended
    ? await suspend(context, object, { syncStatus: 'Suspended' })
    : await syncVersion(context, work)
  wakeRelease(context, object)
  return done
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
