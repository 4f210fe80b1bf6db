/** Brings a Depot to its spec: a Module or Provider for each config, with the versions that upstream has. */

import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { eachLimited } from '../../../base/pacing/pacing.ts'
import { refOf, type StoredObject, type StoredRef } from '../../../records/store/store.ts'
import { expiryOf, type Policy } from '../../policy/policy.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import {
  addFinalizer,
  dropFinalizer,
  finalizerOf,
  handled,
  keyOf,
  latestOf,
  passOn,
  pollRequestOf,
  requestOf,
  resetForceSync,
  resourceOf,
} from '../objects.ts'
import { heldBackIn } from '../parent/held-back.ts'
import { failedConditions, suspend, writeStatus } from '../status.ts'
import { jittered, msOf, pastMsOf, soonest, stalledWaitMs, timeOf } from '../timings.ts'
import {
  type DepotItem,
  type DepotStatus,
  itemsOf,
  mergedConfigs,
  policiesOf,
  policyOf,
} from './configs.ts'
import { type ItemResult, syncItem } from './item.ts'
import { managedBy, orphan } from './made.ts'
import { reportOf } from './report.ts'

/** Maximum number of configs in work. */
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
    await writeStatus<DepotStatus>(context, object, () => ({
      fields: {},
      conditions: failedConditions(failure),
    }))
    return undefined
  }
}

/** Only a Depot that deletes its resources has to wait for that before it disappears. */
async function withFinalizer(
  context: Context,
  object: StoredObject,
  isWanted: boolean,
): Promise<StoredObject> {
  if (isWanted) return addFinalizer(context, object)
  if (!object.metadata.finalizers.includes(finalizerOf(context.apiGroup))) return object
  await dropFinalizer(context, object)
  return latestOf(context, object)
}

async function sync(
  context: Context,
  depot: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled> {
  const nowMs = context.clock()
  const { request, afterMs } = requestOf(context, depot)
  const { poll, afterMs: pollAfterMs } = pollRequestOf(context, depot)
  const status = (depot.status ?? {}) as DepotStatus
  const policy = policyOf(context, depot)
  const { expired, nextMs } = policy ? expiryOf(policy, nowMs) : { expired: [], nextMs: Infinity }
  const specDigest = specDigestOf(context, depot, policy, expired.length)
  const isPoll =
    request !== undefined ||
    poll !== undefined ||
    context.relisted.delete(keyOf(depot.metadata)) ||
    status.polledSpec !== specDigest ||
    pollDueMs(context, depot) <= nowMs

  const managed = managedBy(context, depot)
  const items = itemsOf(depot, managed, context.installation)
  const failing = new Set(
    (status.items ?? []).flatMap(({ kind, name, message }) =>
      message === undefined ? [] : [`${kind} ${name}`],
    ),
  )
  const results: ItemResult[] = []
  await eachLimited(items, maxItemsAtOnce, async (item) => {
    const resource = context.objects.get(item.kind, depot.metadata.namespace, item.objectName)
    const isFree = heldBackIn(resource).some(({ until }) => (msOf(until) ?? Infinity) <= nowMs)
    const again = isPoll || isFree || failing.has(`${item.kind} ${item.name}`)
    const asking = { signal, urgent: request !== undefined || poll !== undefined, isPoll: again }
    results.push(await syncItem(context, depot, item, asking))
  })
  await release(context, depot, managed, items)
  if (request !== undefined) await passOn(context, managedBy(context, depot), request)

  const exceptions = policiesOf(depot.spec).flatMap((one) => one.exceptions ?? [])
  const change = reportOf(results, isPoll ? undefined : status, {
    expired,
    exceptions,
    unknownBefore: status.unknownExceptions,
  })
  await writeStatus<DepotStatus>(context, latestOf(context, depot), () => ({
    fields: {
      ...change.fields,
      ...(isPoll && { lastPoll: timeOf(nowMs), polledSpec: specDigest }),
      ...handled(request, nowMs),
      ...(poll !== undefined && { lastHandledPoll: poll }),
    },
    conditions: change.conditions,
  }))
  notePoll(context, depot)
  await resetForceSync(context, depot, request)
  const expiresAfterMs = nextMs - context.clock()
  const requestedAfterMs = Math.min(afterMs ?? Infinity, pollAfterMs ?? Infinity)
  return afterwards(context, depot, results, Math.min(requestedAfterMs, expiresAfterMs))
}

/** Notes for the end of the process what a poll found or handled. @param before the state before this poll */
function notePoll(context: Context, before: StoredObject): void {
  const factsOf = ({ status }: StoredObject) => {
    const { items, lastHandledPoll } = (status ?? {}) as DepotStatus
    return [lastHandledPoll, items?.map(({ found, matched }) => [found, matched])]
  }
  if (isDeepStrictEqual(factsOf(before), factsOf(latestOf(context, before)))) return
  context.polled.add(keyOf(before.metadata))
}

/** Names the configs and the policy: with other ones, upstream is asked again. */
function specDigestOf(
  { installation }: Context,
  depot: StoredObject,
  policy: Policy | undefined,
  endedRules: number,
): string {
  const configs = JSON.stringify(mergedConfigs(depot, installation))
  const rules = policy ? JSON.stringify(policy) : ''
  const ended = endedRules > 0 ? `${endedRules} ended` : ''
  return hash('sha256', configs + rules + ended).slice(0, 16)
}

/** Reports failed items, and says when to look again. @throws FillError if trying an item again may help */
function afterwards(
  context: Context,
  depot: StoredObject,
  results: readonly ItemResult[],
  otherAfterMs: number,
): Reconciled {
  const { objects, metrics, timings, clock } = context
  const { namespace, name } = depot.metadata
  const object = objects.get('Depot', namespace, name)
  const failed = results.flatMap(({ item, failure }) => (failure ? [{ item, failure }] : []))
  for (const { item, failure } of failed.slice(0, 10)) {
    const reason = failure.reason === 'RateLimited' ? 'RateLimited' : 'SyncFailed'
    const note = `${item.kind} ${item.name}: ${failure.message}`
    if (object) objects.event({ object, type: 'Warning', reason, note })
  }
  const failures = failed.map(({ failure }) => failure)
  metrics.ended('Depot', failures[0]?.reason ?? 'Synced')
  const transient = failures.filter(({ terminal }) => !terminal)
  const [first] = transient
  if (first !== undefined) {
    const retryAfterMs = Math.min(...transient.map((one) => one.retryAfterMs ?? 0)) || undefined
    throw new FillError(first.reason, first.message, { retryAfterMs, cause: first })
  }
  const reasons = failures.map(({ reason }) => reason)
  return soonest(
    object && pollDueMs(context, object) - clock(),
    freeAtMs(results) - clock(),
    failures.length > 0 ? stalledWaitMs(timings, reasons, name) : undefined,
    otherAfterMs,
  )
}

/** When the next version is old enough. A list that could not be read is tried again anyway. */
function freeAtMs(results: readonly ItemResult[]): number {
  const read = results.filter(({ failure }) => failure === undefined)
  const until = read.flatMap(({ heldBack }) => heldBack.map((one) => msOf(one.until) ?? Infinity))
  return Math.min(...until)
}

/** When to poll a Depot next, in milliseconds since 1970; Infinity if each spec is polled only once. */
function pollDueMs(
  { pollSinceMs, clock }: Context,
  { spec, status, metadata }: StoredObject,
): number {
  const { pollingIntervalMinutes = 0 } = spec as { pollingIntervalMinutes?: number }
  const lastMs = pastMsOf((status as DepotStatus | undefined)?.lastPoll, clock())
  // Times in a status are whole seconds.
  if (lastMs + 1000 <= pollSinceMs) return 0
  if (pollingIntervalMinutes <= 0) return Number.POSITIVE_INFINITY
  return lastMs + jittered(pollingIntervalMinutes * 60_000, `${metadata.uid} ${lastMs}`)
}

/** Releases the resources that no config names any more. */
async function release(
  context: Context,
  depot: StoredObject,
  managed: readonly StoredObject[],
  items: readonly DepotItem[],
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
