import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { type Context, keyOf, msOf } from '../context.ts'
import { handled, requestOf, resetForceSync } from '../requests.ts'
import { type StatusChange, writeStatus } from '../status.ts'
import { jittered } from '../timings.ts'
import type { Attempt } from './attempt.ts'
import { addFinalizer } from './finalizer.ts'
import { obtain } from './obtain.ts'
import { type Plan, planOf } from './plan.ts'
import { heldMs, removeFiles } from './remove.ts'
import { keptStatus, type VersionStatus } from './status.ts'
import { upstreamOf } from './upstream.ts'
import { type Verified, verificationDueMs, verifyStored } from './verify.ts'

/** The work on one Version. */
export interface Work {
  readonly object: StoredObject
  readonly version: Version
  readonly attempt: Attempt
  readonly signal: AbortSignal
}

/** A Version whose archive comes from a source. @throws Failure, SourceError, ArchiveError, RegistryError, ApiError */
export async function syncVersion(context: Context, work: Work): Promise<Reconciled | undefined> {
  const { version, attempt, signal } = work
  // Taken now: what is found out while this goes on is for the next time.
  attempt.isOutdated = context.outdated.delete(keyOf(version.metadata))
  const plan = planOf(context, version)
  attempt.sourceKey = plan.sourceKey
  const object = await addFinalizer(context, work.object)
  const request = requestOf(context, object)
  if (request !== undefined && !('afterMs' in request)) attempt.request = request
  const claimed = { ...work, object }

  const status = version.status
  const isStored = status?.artifact?.fileName !== undefined
  const isCurrent = isStored && status?.artifact?.sourceKey === plan.sourceKey
  let verified: Verified = { state: 'whole', seen: {} }
  if (isCurrent) verified = await verifyStored(context, object, plan, signal)
  const isLost = verified.state === 'lost'
  const isKept = isCurrent && !isLost && attempt.request === undefined
  const host = hostOf(plan)
  if (isKept && !mayHaveChanged(work)) {
    await keep(context, claimed, plan, verified)
  } else if (!context.slots.take(host, keyOf(version.metadata))) {
    if (attempt.isOutdated) context.outdated.add(keyOf(version.metadata))
    return { waitsFor: host }
  } else {
    const upstream = await upstreamOf(context, plan, claimed)
    attempt.revision = upstream.revision
    if (isRefusedAlready(version, attempt)) return later(context, object)
    if (isKept && upstream.revision === status?.artifact?.revision) {
      await keep(context, claimed, plan, verified)
    } else {
      await obtain(context, claimed, { plan, upstream, isCurrent, isLost })
    }
  }
  return afterwards(context, claimed, plan, request)
}

/** Whether upstream has to be looked at, although what is stored is what was wanted. */
function mayHaveChanged({ version: { status }, attempt }: Work): boolean {
  const wasRefused = status?.drift !== undefined || status?.attempted !== undefined
  return attempt.isOutdated === true || wasRefused
}

/** Where a plan asks; what upstream names beyond that is asked meanwhile. */
function hostOf(plan: Plan): string {
  if (plan.type === 'Provider') return plan.upstream.host
  const [host = ''] = plan.source.identity.replace(/^\w+:(?:https:\/\/)?/, '').split('/')
  return host
}

/** The same was fetched before, and refused for good. */
function isRefusedAlready(
  { metadata, status }: Version,
  { sourceKey, revision, request }: Attempt,
): boolean {
  const attempted = status?.attempted
  if (attempted === undefined || request !== undefined) return false
  if (status?.observedGeneration !== metadata.generation) return false
  return attempted.sourceKey === sourceKey && attempted.revision === revision
}

function later({ timings }: Context, { metadata }: StoredObject): Reconciled {
  return { afterMs: jittered(timings.stalledMs, metadata.uid) }
}

async function keep(
  context: Context,
  { object, version }: Work,
  plan: Plan,
  { seen }: Verified,
): Promise<void> {
  await writeStatus<VersionStatus>(context, object, (status): StatusChange<VersionStatus> => {
    const { fields, conditions } = keptStatus(status, { sourceKey: plan.sourceKey })
    const artifact = fields.artifact && { ...fields.artifact, ...seen }
    return { fields: { ...fields, artifact }, conditions }
  })
  if (version.status?.synced !== true) context.metrics.ended('Version', 'Synced')
}

/** What is left to do once an archive is stored, and when to look again. */
async function afterwards(
  context: Context,
  { object, attempt: { request } }: Work,
  plan: Plan,
  asked: ReturnType<typeof requestOf>,
): Promise<Reconciled> {
  const { namespace, name } = object.metadata
  let current = context.objects.get('Version', namespace, name) ?? object
  if (request !== undefined) {
    const nowMs = context.clock()
    const written = await writeStatus<VersionStatus>(context, current, () => ({
      fields: handled(request, nowMs),
      conditions: {},
    }))
    current = written ?? current
    await resetForceSync(context, current, request)
  }
  const nextReplaced = await removeReplaced(context, current)
  const artifact = (current.status as VersionStatus | undefined)?.artifact
  const due = artifact && verificationDueMs(context, current, artifact)
  const waits = [
    nextReplaced,
    due && Math.min(due.verify, due.rehash) - context.clock(),
    asked !== undefined && 'afterMs' in asked ? asked.afterMs : undefined,
    isHeldBack(current) ? jittered(context.timings.stalledMs, plan.sourceKey) : undefined,
  ].filter((ms) => ms !== undefined)
  return waits.length === 0 ? {} : { afterMs: Math.max(0, Math.min(...waits)) }
}

function isHeldBack({ status }: StoredObject): boolean {
  return (status as VersionStatus | undefined)?.drift !== undefined
}

/** Removes archives that others replaced, once they are old enough. @returns how long until the next one */
async function removeReplaced(context: Context, object: StoredObject): Promise<number | undefined> {
  const replaced = (object.status as VersionStatus | undefined)?.replaced ?? []
  const nowMs = context.clock()
  const due = replaced.filter((one) => (msOf(one.removeAfter) ?? 0) <= nowMs)
  const left = replaced.filter((one) => !due.includes(one))
  if (due.length > 0) {
    const files = due.map(({ fileName }) => fileName)
    const { held } = await removeFiles(context, object, files)
    if (held.length > 0) return heldMs
    const names = new Set(files)
    await writeStatus<VersionStatus>(context, object, (status) => {
      const rest = (status?.replaced ?? []).filter(({ fileName }) => !names.has(fileName))
      return { fields: { replaced: rest.length > 0 ? rest : undefined }, conditions: {} }
    })
  }
  const next = left.map((one) => (msOf(one.removeAfter) ?? 0) - nowMs)
  return next.length === 0 ? undefined : Math.min(...next)
}
