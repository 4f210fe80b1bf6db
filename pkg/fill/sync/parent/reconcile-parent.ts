import { isDeepStrictEqual } from 'node:util'
import {
  effectiveLifecycle,
  type LifecycleFacts,
  type LifecycleRule,
  LifecycleRules,
  lifecycleWords,
} from '../../../api/lifecycle/lifecycle.ts'
import { refOf, type StoredObject, type StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { depotOf, leaveGoneDepot } from '../depot/made.ts'
import { failureOf, failureText, reportFailure } from '../failure.ts'
import { handled, latestOf, passOn, requestOf, resetForceSync, resourceOf } from '../objects.ts'
import { failedConditions, type StatusChange, suspend, writeStatus } from '../status.ts'
import { soonest, timeOf } from '../timings.ts'
import { wakeUncompared } from '../version/comparison.ts'
import { type SyncRequest, type VersionStatus, versionStatus } from '../version/work.ts'
import {
  heldCondition,
  isRetained,
  type ParentConfig,
  syncChildren,
  useUpConfirmation,
} from './children.ts'
import { heldBackIn } from './held-back.ts'
import { releaseUnscanned } from './quarantine.ts'
import { type ParentStatus, reportOf } from './report.ts'
import { listingOf, withRefusedVersions } from './seen.ts'
import {
  type DesiredVersion,
  identityOf,
  identityOfStored,
  listedVersions,
  ownedBy,
  publishedFor,
  retention,
  type Skipped,
  versionOfStored,
  versionsIn,
  versionsOf,
} from './versions.ts'

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
    // Existing Versions stay unchanged.
    return reportFailure<ParentStatus>(context, object, failure, () => ({
      fields: { synced: false, syncStatus: failureText(failure) },
      conditions: failedConditions(failure),
    }))
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
  const all = versionsOf(context, object)
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
    context.objects.event({ object, type: 'Warning', reason, note })
  }
  await resetForceSync(context, object, request)
  if (config.type === 'Module' && context.dryRun === undefined) wakeUncompared(context, object)
  if (change.fields.synced === true) context.metrics.ended(object.kind, 'Synced')
}

/**
 * Reports the state of Versions in their statuses, for people: servers know it from the same fields.
 *
 * @param parent with a valid spec
 */
async function reportLifecycles(
  context: Context,
  parent: StoredObject,
  versions: readonly StoredObject[],
): Promise<void> {
  const { lifecycle = [] } = parent.spec as { lifecycle?: readonly LifecycleRule[] }
  const rules = new LifecycleRules(lifecycle)
  for (const version of versions) {
    if (isReported(version, rules)) continue
    const { lifecycle: before } = versionStatus(version)
    const written = await writeStatus<VersionStatus>(context, version, (status) => ({
      fields: fieldsAfter(stateOf(version, rules, status), status, timeOf(context.clock())),
      conditions: {},
      isObserved: false,
    }))
    const after = written && versionStatus(written).lifecycle
    if (after?.state !== 'Quarantined' || before?.state === 'Quarantined') continue
    const words = lifecycleWords(after)
    const note = `it is not served any more${words && `: ${words}`}`
    context.objects.event({ object: version, type: 'Warning', reason: 'Quarantined', note })
  }
}

function isReported(version: StoredObject, rules: LifecycleRules): boolean {
  const status = versionStatus(version)
  const { since: _, ...reported } = status.lifecycle ?? {}
  return isDeepStrictEqual(reported, { ...stateOf(version, rules, status) })
}

/** Keeps the time of a state whose words change. */
function fieldsAfter(
  state: VersionStatus['lifecycle'],
  status: VersionStatus | undefined,
  now: string,
): Pick<VersionStatus, 'lifecycle' | 'quarantineEndedAt'> {
  const { state: before, since } = status?.lifecycle ?? {}
  const isReleased = before === 'Quarantined' && state?.state !== 'Quarantined'
  return {
    lifecycle: state && { ...state, since: before === state.state ? since : now },
    ...(isReleased && { quarantineEndedAt: now }),
  }
}

function stateOf(
  version: StoredObject,
  rules: LifecycleRules,
  status: VersionStatus | undefined,
): VersionStatus['lifecycle'] {
  const { lifecycle: own } = version.spec as { readonly lifecycle?: LifecycleFacts['own'] }
  const matching = rules.matching(versionOfStored(version))
  return effectiveLifecycle({ own, rules: matching, quarantinedBy: status?.quarantinedBy })
}

export function reconcileModule(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  return reconcileParent(context, ref, async (object) => modulePlanOf(context, object), signal)
}

function modulePlanOf(context: Context, object: StoredObject): ParentPlan {
  const { spec, metadata } = resourceOf('Module', object)
  const published = publishedFor(context, object)
  const { listed, skipped } = listedVersions([...spec.versions, ...versionsIn(published)])
  const kept = [...ownedBy(context, object).filter(isRetained), ...published]
  const retained = new Set(kept.map(identityOfStored))
  const { moduleConfig } = object.spec as { moduleConfig: Record<string, unknown> }
  const { name = metadata.name, versionHistoryLimit } = spec.moduleConfig
  return {
    config: { type: 'Module', config: { ...moduleConfig, name } },
    desired: retention(listed, versionHistoryLimit, (version) => retained.has(version)),
    skipped,
  }
}
