/** Brings a Depot to where its spec says: a Module or Provider for each config, with the versions that upstream has. */
import { createHash } from 'node:crypto'
import { eachLimited } from '../../../base/pacing/pacing.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { conditionTrue } from '../conditions.ts'
import { type Context, msOf, refOf, timeOf } from '../context.ts'
import { Failure, failureOf } from '../failure.ts'
import { depotLabel, orphan } from '../parent/depot-label.ts'
import { handled, passOn, requestOf, resetForceSync } from '../requests.ts'
import { resourceOf } from '../resource.ts'
import { writeStatus } from '../status.ts'
import { jittered, stalledWaitMs } from '../timings.ts'
import { addFinalizer, dropFinalizer, finalizerOf } from '../version/finalizer.ts'
import { type DepotStatus, itemsOf, mergedConfigs } from './configs.ts'
import { type ItemResult, syncItem } from './item.ts'
import { failedDepot, reportOf } from './report.ts'

/** How many configs are worked on at a time. */
const maxItemsAtOnce = 4

export async function reconcileDepot(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const object = context.objects.get('Depot', ref.namespace, ref.name)
  if (object === undefined) return undefined
  if (object.metadata.deletionTimestamp !== undefined) return removeDepot(context, object)
  try {
    const { spec } = resourceOf('Depot', object)
    if (spec.suspend === true) return await suspend(context, object)
    const depot = await withFinalizer(context, object, spec.deletionPolicy === 'Delete')
    return await sync(context, depot, signal)
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    if (failure.reason !== 'InvalidSpec') throw failure
    await writeStatus<DepotStatus>(context, object, () => failedDepot(failure))
    return undefined
  }
}

async function suspend(context: Context, object: StoredObject): Promise<undefined> {
  await writeStatus<DepotStatus>(context, object, () => ({
    fields: {},
    conditions: {
      Suspended: conditionTrue('Suspended', 'spec.suspend is set'),
      Reconciling: undefined,
    },
  }))
}

/** Only a Depot whose resources go with it has to be waited for when it is deleted. */
async function withFinalizer(
  context: Context,
  object: StoredObject,
  isWanted: boolean,
): Promise<StoredObject> {
  const has = object.metadata.finalizers.includes(finalizerOf(context.apiGroup))
  if (isWanted) return has ? object : addFinalizer(context, object)
  if (!has) return object
  await dropFinalizer(context, object)
  return context.objects.get('Depot', object.metadata.namespace, object.metadata.name) ?? object
}

async function sync(
  context: Context,
  depot: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const nowMs = context.clock()
  const asked = requestOf(context, depot)
  const request = asked !== undefined && !('afterMs' in asked) ? asked : undefined
  const status = (depot.status ?? {}) as DepotStatus
  const specDigest = digestOf(depot)
  const isPoll =
    request !== undefined || status.polledSpec !== specDigest || pollDueMs(context, depot) <= nowMs

  const managed = managedBy(context, depot)
  const items = itemsOf(depot, managed)
  const failing = new Set(
    (status.items ?? []).flatMap(({ kind, name, message }) =>
      message === undefined ? [] : [`${kind} ${name}`],
    ),
  )
  const results: ItemResult[] = []
  await eachLimited(items, maxItemsAtOnce, async (item) => {
    const again = isPoll || failing.has(`${item.kind} ${item.name}`)
    const asking = { signal, urgent: request !== undefined, isPoll: again }
    results.push(await syncItem(context, depot, item, asking))
  })
  await release(context, depot, managed, items)
  if (request !== undefined) await passOn(context, managedBy(context, depot), request, nowMs)

  const { namespace, name } = depot.metadata
  const current = context.objects.get('Depot', namespace, name) ?? depot
  const change = reportOf(results, isPoll ? undefined : status)
  await writeStatus<DepotStatus>(context, current, () => ({
    fields: {
      ...change.fields,
      ...(isPoll && { lastPoll: timeOf(nowMs), polledSpec: specDigest }),
      ...handled(request, nowMs),
    },
    conditions: change.conditions,
  }))
  await resetForceSync(context, depot, request)
  return next(context, refOf(depot), results, asked)
}

/** When to look again. @throws Failure where an item may go better soon */
function next(
  context: Context,
  { namespace, name }: StoredRef,
  results: readonly ItemResult[],
  asked: ReturnType<typeof requestOf>,
): Reconciled | undefined {
  const object = context.objects.get('Depot', namespace, name)
  const failed = results.flatMap(({ item, failure }) => (failure ? [{ item, failure }] : []))
  const failures = failed.map(({ failure }) => failure)
  for (const { item, failure } of failed.slice(0, 10)) {
    const reason = failure.reason === 'RateLimited' ? 'RateLimited' : 'SyncFailed'
    const note = `${item.kind} ${item.name}: ${failure.message}`
    if (object) context.objects.event({ object, type: 'Warning', reason, note })
  }
  const [first] = failures
  context.metrics.ended('Depot', first?.reason ?? 'Synced')
  const transient = failures.filter(({ terminal }) => !terminal)
  const [firstTransient] = transient
  if (firstTransient !== undefined) {
    const waits = transient.map(({ retryAfterMs }) => retryAfterMs ?? 0)
    const { reason, message } = firstTransient
    throw new Failure(reason, message, { retryAfterMs: Math.min(...waits) || undefined })
  }
  const reasons = failures.map(({ reason }) => reason)
  const times: (number | undefined)[] = [
    object && pollDueMs(context, object) - context.clock(),
    failures.length > 0 ? stalledWaitMs(context.timings, reasons, name) : undefined,
    asked !== undefined && 'afterMs' in asked ? asked.afterMs : undefined,
  ]
  const waits = times.filter((ms): ms is number => ms !== undefined && Number.isFinite(ms))
  return waits.length === 0 ? undefined : { afterMs: Math.max(0, Math.min(...waits)) }
}

/** When a Depot is polled next, in milliseconds since 1970; Infinity where it is polled for each spec once. */
function pollDueMs({ pollSinceMs }: Context, { spec, status, metadata }: StoredObject): number {
  const { pollingIntervalMinutes = 0 } = spec as { pollingIntervalMinutes?: number }
  const lastMs = msOf((status as DepotStatus | undefined)?.lastPoll) ?? 0
  // Times in a status are whole seconds.
  if (lastMs + 1000 <= pollSinceMs) return 0
  if (pollingIntervalMinutes <= 0) return Number.POSITIVE_INFINITY
  return lastMs + jittered(pollingIntervalMinutes * 60_000, `${metadata.uid} ${lastMs}`)
}

function digestOf(depot: StoredObject): string {
  const text = JSON.stringify(mergedConfigs(depot))
  return createHash('sha256').update(text).digest('hex').slice(0, 16)
}

function managedBy({ objects, apiGroup }: Context, { metadata }: StoredObject): StoredObject[] {
  const { namespace, name } = metadata
  const filter = { namespace, label: { name: depotLabel(apiGroup), value: name } }
  return [...objects.list('Module', filter), ...objects.list('Provider', filter)]
}

/** Lets go what no config names any more. */
async function release(
  context: Context,
  depot: StoredObject,
  managed: readonly StoredObject[],
  items: readonly { readonly kind: string; readonly objectName: string }[],
): Promise<void> {
  const wanted = new Set(items.map(({ kind, objectName }) => `${kind} ${objectName}`))
  const { deletionPolicy } = depot.spec as { deletionPolicy?: string }
  for (const object of managed) {
    const { name, uid, deletionTimestamp } = object.metadata
    if (wanted.has(`${object.kind} ${name}`) || deletionTimestamp !== undefined) continue
    if (deletionPolicy === 'Delete') await context.objects.delete(refOf(object), { uid })
    else await orphan(context, object)
  }
}

async function removeDepot(context: Context, depot: StoredObject): Promise<undefined> {
  if (!depot.metadata.finalizers.includes(finalizerOf(context.apiGroup))) return
  await release(context, depot, managedBy(context, depot), [])
  await dropFinalizer(context, depot)
}
