import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { type Context, keyOf, latestOf, msOf, soonest } from '../context.ts'
import { handled, requestOf, resetForceSync } from '../requests.ts'
import { type StatusChange, writeStatus } from '../status.ts'
import { jittered } from '../timings.ts'
import { addFinalizer } from './finalizer.ts'
import { obtain } from './obtain.ts'
import { planOf, type VersionPlan } from './plan.ts'
import { attemptKey, refusedBefore, refusedWaitMs } from './refused.ts'
import { heldMs, removeFiles } from './remove.ts'
import { keptStatus } from './status.ts'
import { upstreamOf } from './upstream.ts'
import { type StoredState, verificationDueMs, verifyStored } from './verify.ts'
import { type VersionStatus, type VersionWork, versionStatus } from './work.ts'

/** Syncs a Version whose archive comes from a source. @throws FillError, ArchiveError, RegistryError, ApiError */
export async function syncVersion(
  context: Context,
  given: VersionWork,
): Promise<Reconciled | undefined> {
  const { version, attempt, signal } = given
  const key = keyOf(version.metadata)
  // Taken now: a change that is noticed during this work is for the next run.
  attempt.isOutdated = context.outdated.delete(key)
  const plan = planOf(context, version)
  attempt.key = attemptKey(context, plan.sourceKey)
  const object = await addFinalizer(context, given.object)
  const work = { ...given, object }
  const { request, afterMs } = requestOf(context, object)
  attempt.request = request

  const { artifact, upstream } = version.status ?? {}
  // What upstream no longer has is kept, also from a source that the module had before.
  const isSame = artifact?.sourceKey === plan.sourceKey || upstream === 'Gone'
  const isCurrent = artifact?.fileName !== undefined && isSame
  const stored: StoredState = isCurrent
    ? await verifyStored(context, object, plan, signal)
    : { state: 'whole', seen: {} }
  const isLost = stored.state === 'lost'
  const isKept = isCurrent && !isLost && request === undefined
  if (isKept && !mayHaveChanged(work)) {
    await keep(context, work, plan, stored)
  } else if (!context.slots.take(plan.host, key)) {
    if (attempt.isOutdated) context.outdated.add(key)
    // Modules take turns, so that each has its newest version before one has all of them.
    return { waitsFor: `${plan.host} ${plan.configName}` }
  } else {
    const offer = await upstreamOf(context, plan, work)
    const { uid } = object.metadata
    const refused = request === undefined ? refusedBefore(work) : undefined
    const waitMs = refused === undefined ? 0 : refusedWaitMs(context, uid, refused)
    if (waitMs > 0) return soonest(waitMs, jittered(context.timings.stalledMs, uid))
    if (isKept && offer.revision === artifact.revision) await keep(context, work, plan, stored)
    else await obtain(context, work, { plan, offer, isCurrent, isLost })
  }
  return afterwards(context, work, plan, afterMs)
}

/** Whether upstream has to be asked although the stored archive is the wanted one. */
function mayHaveChanged({ version: { status }, attempt }: VersionWork): boolean {
  const wasRefused = status?.drift !== undefined || status?.attempted !== undefined
  return attempt.isOutdated === true || wasRefused
}

async function keep(
  context: Context,
  { object, version }: VersionWork,
  { sourceKey }: VersionPlan,
  { seen }: StoredState,
): Promise<void> {
  await writeStatus<VersionStatus>(context, object, (status): StatusChange<VersionStatus> => {
    const { fields, conditions } = keptStatus(status, { sourceKey })
    const artifact = fields.artifact && { ...fields.artifact, ...seen }
    return { fields: { ...fields, artifact }, conditions }
  })
  if (version.status?.synced !== true) context.metrics.ended('Version', 'Synced')
}

/** Finishes the work on a stored archive, and says when to look again. */
async function afterwards(
  context: Context,
  { object, attempt: { request } }: VersionWork,
  { sourceKey }: VersionPlan,
  forceSyncAfterMs: number | undefined,
): Promise<Reconciled> {
  const { clock, timings } = context
  let current = latestOf(context, object)
  if (request !== undefined) {
    const change = { fields: handled(request, clock()), conditions: {} }
    current = (await writeStatus<VersionStatus>(context, current, () => change)) ?? current
    await resetForceSync(context, current, request)
  }
  const nextReplacedMs = await removeReplaced(context, current)
  const { artifact, drift } = versionStatus(current)
  const due = artifact && verificationDueMs(context, current, artifact)
  return soonest(
    nextReplacedMs,
    due && Math.min(due.verify, due.rehash) - clock(),
    forceSyncAfterMs,
    drift === undefined ? undefined : jittered(timings.stalledMs, sourceKey),
  )
}

/** Removes replaced archives that are old enough. @returns time until the next one is */
async function removeReplaced(context: Context, object: StoredObject): Promise<number | undefined> {
  const { replaced = [] } = versionStatus(object)
  const nowMs = context.clock()
  const removeMs = ({ removeAfter }: { readonly removeAfter: string }) => msOf(removeAfter) ?? 0
  const due = replaced.filter((one) => removeMs(one) <= nowMs)
  if (due.length > 0) {
    const files = new Set(due.map(({ fileName }) => fileName))
    const { held } = await removeFiles(context, object, [...files])
    if (held.length > 0) return heldMs
    await writeStatus<VersionStatus>(context, object, (status) => {
      const rest = (status?.replaced ?? []).filter(({ fileName }) => !files.has(fileName))
      return { fields: { replaced: rest.length > 0 ? rest : undefined }, conditions: {} }
    })
  }
  const left = replaced.filter((one) => !due.includes(one))
  return left.length === 0 ? undefined : Math.min(...left.map(removeMs)) - nowMs
}
