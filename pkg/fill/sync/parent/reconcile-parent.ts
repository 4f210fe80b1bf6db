import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { conditionFalse, conditionTrue, settled } from '../conditions.ts'
import { type Context, refOf } from '../context.ts'
import { type Failure, failureOf, failureText } from '../failure.ts'
import { handled, passOn, requestOf, resetForceSync, type SyncRequest } from '../requests.ts'
import { type StatusChange, writeStatus } from '../status.ts'
import { stalledWaitMs } from '../timings.ts'
import type { ParentConfig } from './child.ts'
import { ownedBy, syncChildren } from './children.ts'
import { orphanOfGone } from './depot-label.ts'
import { type Desired, identityOf, type Skipped } from './desired.ts'
import { type ParentStatus, reportOf } from './report.ts'

/** What a Module or Provider wants. */
export interface Wish {
  readonly config: ParentConfig
  readonly desired: readonly Desired[]
  readonly skipped: readonly Skipped[]
  /** Fields of the status that only this kind has. */
  readonly fields?: StatusChange<ParentStatus>['fields']
  /** When the wish may be another one. */
  readonly afterMs?: number
}

/**
 * Brings the Versions of a Module or Provider to where its spec says, and tells of them in its status.
 *
 * @param wishOf reads the spec. @throws Failure, SourceError
 */
export async function reconcileParent(
  context: Context,
  ref: StoredRef,
  wishOf: (object: StoredObject, request: SyncRequest | undefined) => Promise<Wish>,
): Promise<Reconciled | undefined> {
  const object = context.objects.get(ref.kind, ref.namespace, ref.name)
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  await orphanOfGone(context, object)
  if ((object.spec as { suspend?: boolean }).suspend === true) return suspend(context, object)
  const asked = requestOf(context, object)
  const request = asked !== undefined && !('afterMs' in asked) ? asked : undefined
  try {
    const result = await sync(context, object, request, await wishOf(object, request))
    const waits = [
      result?.afterMs,
      asked !== undefined && 'afterMs' in asked ? asked.afterMs : undefined,
    ]
    const known = waits.filter((ms) => ms !== undefined)
    return known.length === 0 ? undefined : { afterMs: Math.min(...known) }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined) throw error
    return recordFailure(context, object, failure)
  }
}

async function sync(
  context: Context,
  object: StoredObject,
  request: SyncRequest | undefined,
  wish: Wish,
): Promise<Reconciled | undefined> {
  const nowMs = context.clock()
  const { config, desired, skipped, afterMs } = wish
  if (request !== undefined) await passOn(context, ownedBy(context, object), request, nowMs)
  const children = await syncChildren(context, object, config, desired)
  const change = reportOf(config.type, {
    desired: desired.length,
    children: desired.flatMap((one) => {
      const child = children.wanted.get(identityOf(one))
      return child === undefined ? [] : [{ version: one.version, child }]
    }),
    retained: children.retained,
    skipped,
  })
  const current = context.objects.get(object.kind, object.metadata.namespace, object.metadata.name)
  await writeStatus<ParentStatus>(context, current ?? object, () => ({
    ...change,
    fields: { ...change.fields, ...wish.fields, ...handled(request, nowMs) },
  }))
  await resetForceSync(context, object, request)
  if (change.fields.synced === true) context.metrics.ended(object.kind, 'Synced')
  return children.hasMore ? { afterMs: 0 } : afterMs === undefined ? undefined : { afterMs }
}

async function suspend(context: Context, object: StoredObject): Promise<undefined> {
  await writeStatus<ParentStatus>(context, object, () => ({
    fields: { syncStatus: 'Suspended' },
    conditions: {
      Suspended: conditionTrue('Suspended', 'spec.suspend is set'),
      Reconciling: undefined,
    },
  }))
}

/** The Versions that there are stay as they are. */
async function recordFailure(
  context: Context,
  object: StoredObject,
  failure: Failure,
): Promise<Reconciled> {
  const { reason, message, terminal } = failure
  const { kind, namespace, name } = refOf(object)
  const current = context.objects.get(kind, namespace, name) ?? object
  await writeStatus<ParentStatus>(context, current, () => ({
    fields: { synced: false, syncStatus: failureText(failure) },
    conditions: {
      ...settled,
      Ready: conditionFalse(reason, message),
      [terminal ? 'Stalled' : 'Reconciling']: conditionTrue(reason, message),
    },
  }))
  context.metrics.ended(kind, reason)
  const event = reason === 'RateLimited' ? 'RateLimited' : 'SyncFailed'
  context.objects.event({
    object: current,
    type: 'Warning',
    reason: event,
    note: `${reason}: ${message}`,
  })
  if (!terminal) throw failure
  return { afterMs: stalledWaitMs(context.timings, [reason], current.metadata.uid) }
}
