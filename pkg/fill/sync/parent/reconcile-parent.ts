import { refOf, type StoredObject, type StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { FillError } from '../../sources/sources.ts'
import { conditionFalse, conditionTrue, type StatusChange, settled } from '../conditions.ts'
import type { Context } from '../context.ts'
import { failureOf, failureText, reportFailure } from '../failure.ts'
import { latestOf } from '../objects.ts'
import { handled, passOn, requestOf, resetForceSync } from '../requests.ts'
import { suspend, writeStatus } from '../status.ts'
import { soonest } from '../timings.ts'
import { wakeUncompared } from '../version/comparison.ts'
import type { SyncRequest } from '../version/work.ts'
import { type ParentConfig, syncChildren } from './children.ts'
import { leaveGoneDepot } from './depot-label.ts'
import { type DesiredVersion, identityOf, type Skipped } from './desired.ts'
import { heldBackIn } from './held-back.ts'
import { reportLifecycles } from './lifecycle.ts'
import { ownedBy, publishedFor } from './published.ts'
import { depotOf, releaseUnscanned } from './quarantine.ts'
import { withRefusedVersions } from './refused-versions.ts'
import { heldCondition, useUpConfirmation } from './removal.ts'
import { type ParentStatus, reportOf } from './report.ts'
import { listingOf } from './seen.ts'

/** The desired children of a Module or Provider. */
export interface ParentPlan {
  readonly config: ParentConfig
  readonly desired: readonly DesiredVersion[]
  readonly skipped: readonly Skipped[]
  /** Host and path of the source; undefined if it has none. */
  readonly address?: string | undefined
  /** Status fields that only this kind has. */
  readonly fields?: StatusChange<ParentStatus>['fields']
}

/**
 * Brings the Versions of a Module or Provider to its spec, and reports them in its status.
 *
 * @param planOf reads the spec. @throws FillError
 */
export async function reconcileParent(
  context: Context,
  ref: StoredRef,
  planOf: (object: StoredObject, request: SyncRequest | undefined) => Promise<ParentPlan>,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const object = context.objects.get(ref.kind, ref.namespace, ref.name)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  const waits = await leaveGoneDepot(context, object, signal)
  if (waits !== undefined) return waits
  if ((object.spec as { suspend?: boolean }).suspend === true) {
    return suspend(context, object, { syncStatus: 'Suspended' })
  }
  const { request, afterMs } = requestOf(context, object)
  try {
    await sync(context, object, request, await planOf(object, request))
    return soonest(afterMs)
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined) throw error
    return reportFailure<ParentStatus>(context, object, failure, () => failedStatus(failure))
  }
}

async function sync(
  context: Context,
  object: StoredObject,
  request: SyncRequest | undefined,
  { config, desired, skipped, fields, address }: ParentPlan,
): Promise<void> {
  const nowMs = context.clock()
  if (request !== undefined) await passOn(context, ownedBy(context, object), request)
  const { wanted, retained, held } = await syncChildren(context, object, config, desired)
  await useUpConfirmation(context, object)
  const all = [...ownedBy(context, object), ...publishedFor(context, object)]
  await releaseUnscanned(context, object, all)
  await reportLifecycles(
    context,
    object,
    all.map((version) => latestOf(context, version)),
  )
  const children = desired.flatMap((one) => {
    const child = wanted.get(identityOf(one))
    return child === undefined ? [] : [{ version: one.version, child: latestOf(context, child) }]
  })
  const change = reportOf(config.type, { desired: desired.length, children, retained, skipped })
  const RemovalHeld = held && heldCondition(context, object, held)
  const heldBefore = heldBackIn(latestOf(context, object)).length
  const written = await writeStatus<ParentStatus>(context, latestOf(context, object), (status) => ({
    ...change,
    fields: {
      ...change.fields,
      ...fields,
      ...handled(request, nowMs),
      // Nobody holds back versions of a resource that its Depot released, except for their signers and their breaking changes.
      listing: withRefusedVersions(
        context,
        object,
        listingOf({ ...object, status }),
        address ?? '',
      ),
    },
    conditions: { ...change.conditions, RemovalHeld },
  }))
  const depot = depotOf(context, object)
  // Its condition names them.
  if (depot && heldBackIn(written).length !== heldBefore) context.wake(refOf(depot), 'poll')
  if (RemovalHeld !== undefined) {
    const { reason, message: note } = RemovalHeld
    context.objects.event({ object, type: 'Warning', reason, note: note.slice(0, 1024) })
  }
  await resetForceSync(context, object, request)
  if (config.type === 'Module' && context.dryRun === undefined) wakeUncompared(context, object)
  if (change.fields.synced === true) context.metrics.ended(object.kind, 'Synced')
}

/** Existing Versions stay unchanged. */
function failedStatus(failure: FillError): StatusChange<ParentStatus> {
  const { reason, message, terminal } = failure
  return {
    fields: { synced: false, syncStatus: failureText(failure) },
    conditions: {
      ...settled,
      Ready: conditionFalse(reason, message),
      [terminal ? 'Stalled' : 'Reconciling']: conditionTrue(reason, message),
    },
  }
}
