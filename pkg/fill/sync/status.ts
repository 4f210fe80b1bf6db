import { isDeepStrictEqual } from 'node:util'
import { ApiError, type StoredObject } from '../../records/store/store.ts'
import { type AnyStatus, conditionTrue, type StatusChange, withConditions } from './conditions.ts'
import type { Context } from './context.ts'
import { timeOf } from './timings.ts'

const maxConflicts = 5

/**
 * Writes a status in one update. If the object changed meanwhile, but not its spec, the change is applied to its new state.
 *
 * @param change computed from the current status
 * @returns the written object; undefined if its spec changed or it is gone, so that all decisions have to be made again
 * @throws ApiError Conflict after six conflicts in a row: nothing else would request the work again; NotFound if the object
 *   is there and its status is not
 */
export async function writeStatus<S extends AnyStatus>(
  context: Pick<Context, 'objects' | 'clock'>,
  object: StoredObject,
  change: (status: S | undefined) => StatusChange<S>,
): Promise<StoredObject | undefined> {
  let current = object
  for (let attempt = 0; ; attempt += 1) {
    const wanted = change(current.status as S | undefined)
    const status = statusAfter(current, wanted, context.clock())
    const isProgress = wanted.isProgress === true || isOnlyPollTime(current.status, status)
    try {
      return await context.objects.writeStatus(current, status, { isProgress })
    } catch (error) {
      const reason = error instanceof ApiError ? error.reason : undefined
      if (reason !== 'Conflict' && reason !== 'NotFound') throw error
      if (attempt === maxConflicts) throw error
      const { kind, metadata } = current
      const fresh = await context.objects.fresh(kind, metadata.namespace, metadata.name)
      if (fresh === undefined || !isSameTask(object, fresh)) return undefined
      if (reason === 'NotFound') throw noStatus(fresh, error)
      current = fresh
    }
  }
}

/** An API server answers 404 for an object that is gone, and for a status that the definition does not have. */
function noStatus({ kind, metadata: { namespace, name } }: StoredObject, cause: unknown): ApiError {
  const message = `${kind} ${namespace}/${name} exists, but its status cannot be written: the definition of ${kind} has no status subresource; install the definitions of this release: kubectl apply --server-side -k config/crd`
  return new ApiError('NotFound', message, { cause })
}

/** Reports that an object is suspended; its other conditions stay. */
export async function suspend(
  context: Context,
  object: StoredObject,
  fields: { readonly syncStatus?: string } = {},
): Promise<undefined> {
  const Suspended = conditionTrue('Suspended', 'spec.suspend is set')
  const change = { fields, conditions: { Suspended, Reconciling: undefined } }
  await writeStatus<AnyStatus & { syncStatus?: string }>(context, object, () => change)
}

/** Whether nothing changes except the time of the last poll. */
function isOnlyPollTime(before: unknown, after: Readonly<Record<string, unknown>>): boolean {
  const { lastPoll, ...rest } = after
  const { lastPoll: lastBefore, ...restBefore } = (before ?? {}) as Record<string, unknown>
  return lastPoll !== lastBefore && isDeepStrictEqual(JSON.parse(JSON.stringify(rest)), restBefore)
}

function isSameTask(a: StoredObject, b: StoredObject): boolean {
  return (
    a.metadata.uid === b.metadata.uid &&
    a.metadata.generation === b.metadata.generation &&
    a.metadata.deletionTimestamp === b.metadata.deletionTimestamp
  )
}

function statusAfter<S extends AnyStatus>(
  { status, metadata }: StoredObject,
  { fields, conditions, isObserved = true }: StatusChange<S>,
  nowMs: number,
): Record<string, unknown> {
  const before = (status ?? {}) as AnyStatus
  const at = { generation: metadata.generation, now: timeOf(nowMs) }
  const all: Record<string, unknown> = {
    ...before,
    ...fields,
    ...(isObserved && { observedGeneration: metadata.generation }),
    conditions: withConditions(before.conditions, conditions, at),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
