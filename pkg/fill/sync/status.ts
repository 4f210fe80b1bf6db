import { isDeepStrictEqual } from 'node:util'
import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'
import { ApiError, type StoredObject } from '../../records/store/store.ts'
import { type ConditionChanges, withConditions } from './conditions.ts'
import { type Context, timeOf } from './context.ts'

const maxConflicts = 5

/** What every status has. */
interface AnyStatus {
  readonly conditions?: Condition[] | undefined
}

/** Fields of a status and conditions that are to change; undefined takes a field away. */
export interface StatusChange<S> {
  readonly fields: { readonly [F in keyof S]?: S[F] | undefined }
  readonly conditions: ConditionChanges
  /** Whether this only says how far work is, which is not worth a file. */
  readonly isProgress?: boolean
}

/**
 * Writes a status in one update. Where the object was changed meanwhile, but not its spec, the change is made again on
 * what is there now.
 *
 * @param change made from the status as it is now
 * @returns the object as it is then; undefined where its spec changed or it is gone, so that everything has to be decided again
 * @throws ApiError Conflict where others changed it six times in a row: nothing else would ask for the work again
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
    const isProgress = wanted.isProgress === true || isOnlyALook(current.status, status)
    try {
      return await context.objects.writeStatus(current, status, { isProgress })
    } catch (error) {
      if (!(error instanceof ApiError) || error.reason !== 'Conflict') {
        if (error instanceof ApiError && error.reason === 'NotFound') return undefined
        throw error
      }
      if (attempt === maxConflicts) throw error
      const { kind, metadata } = current
      const fresh = await context.objects.fresh(kind, metadata.namespace, metadata.name)
      if (fresh === undefined || !isSameTask(object, fresh)) return undefined
      current = fresh
    }
  }
}

/** Whether nothing changes but the time when upstream was looked at. */
function isOnlyALook(before: unknown, after: Readonly<Record<string, unknown>>): boolean {
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
  { fields, conditions }: StatusChange<S>,
  nowMs: number,
): Record<string, unknown> {
  const before = (status ?? {}) as AnyStatus
  const at = { generation: metadata.generation, now: timeOf(nowMs) }
  const all: Record<string, unknown> = {
    ...before,
    ...fields,
    observedGeneration: metadata.generation,
    conditions: withConditions(before.conditions, conditions, at),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}
