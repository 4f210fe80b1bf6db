/** Statuses of objects: their conditions, and the updates that write them. */

import { isDeepStrictEqual } from 'node:util'
import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { ApiError, type Objects, type StoredObject } from '../../records/store/store.ts'
import type { FillError } from '../sources/sources.ts'
import { timeOf } from './timings.ts'

type ConditionType =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'Suspended'
  | 'Fetched'
  | 'Verified'
  | 'Stored'
  | 'Drifted'
  | 'Conflict'
  | 'UpstreamSuspicious'
  | 'RemovalHeld'
  | 'HeldBack'
  | 'Scanned'
  | 'SourceScanned'
  | 'PolicyExpired'
  | 'ExceptionUnknown'
  | 'ClockSkew'
  | 'SemVer'
  | 'SourceChanged'

export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: Reason
  readonly message: string
}

/** New states of some conditions; undefined removes a condition. */
export type ConditionChanges = Partial<Record<ConditionType, ConditionState | undefined>>

const conditionOf =
  (status: ConditionState['status']) =>
  (reason: Reason, message: string): ConditionState => ({ status, reason, message })

export const conditionTrue = conditionOf('True')
export const conditionFalse = conditionOf('False')
export const conditionUnknown = conditionOf('Unknown')

/** Conditions of an object that no work is going on for. */
export const settled: ConditionChanges = {
  Reconciling: undefined,
  Stalled: undefined,
  Suspended: undefined,
}

/** Conditions of an object whose work failed. */
export const failedConditions = ({
  reason,
  message,
  terminal,
}: Pick<FillError, 'reason' | 'message' | 'terminal'>): ConditionChanges => ({
  ...settled,
  Ready: conditionFalse(reason, message),
  [terminal ? 'Stalled' : 'Reconciling']: conditionTrue(reason, message),
})

/**
 * Applies changes to conditions. A transition time changes only with the status; other conditions stay.
 *
 * @param at the observed generation, and the time as RFC 3339
 */
export function withConditions(
  before: readonly Condition[] | undefined,
  changes: ConditionChanges,
  at: { readonly generation: number; readonly now: string },
): Condition[] {
  const all = new Map((before ?? []).map((condition) => [condition.type, condition]))
  for (const [type, state] of Object.entries(changes)) {
    const known = all.get(type)
    if (state === undefined) {
      all.delete(type)
      continue
    }
    const lastTransitionTime = known?.status === state.status ? known.lastTransitionTime : at.now
    all.set(type, { type, ...state, observedGeneration: at.generation, lastTransitionTime })
  }
  return [...all.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1))
}

export function readyIn(conditions: readonly Condition[] | undefined): Condition | undefined {
  return conditions?.find(({ type }) => type === 'Ready')
}

/** The fields of every status. */
export interface AnyStatus {
  readonly conditions?: Condition[] | undefined
}

/** Changes of fields and conditions; undefined removes a field or condition. */
export interface StatusChange<S> {
  readonly fields: { readonly [F in keyof S]?: S[F] | undefined }
  readonly conditions: ConditionChanges
  /** Whether the change only reports progress, which is not worth writing a file. */
  readonly isProgress?: boolean
  /** False: the spec is still to be processed, so observedGeneration stays. */
  readonly isObserved?: boolean
}

/** Whether a reason only means waiting: nothing is wrong, and nobody has to do anything. */
export function isPatience(reason: string): boolean {
  return reason === 'RateLimited' || reason === 'WaitingForSpool'
}

/** The store that statuses are written to. */
interface Written {
  readonly objects: Pick<Objects, 'fresh' | 'writeStatus'>
  readonly clock: Clock
}

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
  context: Written,
  object: StoredObject,
  change: (status: S | undefined) => StatusChange<S>,
): Promise<StoredObject | undefined> {
  let current = object
  for (let attempt = 0; ; attempt += 1) {
    const wanted = change(current.status as S | undefined)
    const status = statusAfter(current, wanted, context.clock())
    const isProgress = wanted.isProgress === true || isOnlyPoll(current, status)
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
  context: Written,
  object: StoredObject,
  fields: { readonly syncStatus?: string } = {},
): Promise<undefined> {
  const Suspended = conditionTrue('Suspended', 'spec.suspend is set')
  const change = { fields, conditions: { Suspended, Reconciling: undefined } }
  await writeStatus<AnyStatus & { syncStatus?: string }>(context, object, () => change)
}

/**
 * Whether nothing changes except the facts of a poll: its time, the request that it handled, and how many versions it found.
 * They alone wait for a later write of a Depot.
 */
function isOnlyPoll({ kind, status }: StoredObject, after: PolledStatus): boolean {
  if (kind !== 'Depot') return false
  const before = (status ?? {}) as PolledStatus
  return isDeepStrictEqual(withoutPoll(JSON.parse(JSON.stringify(after))), withoutPoll(before))
}

interface PolledStatus {
  readonly lastPoll?: string
  readonly lastHandledPoll?: string
  readonly items?: readonly { readonly found?: number; readonly matched?: number }[]
}

function withoutPoll({ items = [], ...status }: PolledStatus) {
  const stays = items.map((item) => ({ ...item, found: undefined, matched: undefined }))
  return { ...status, lastPoll: undefined, lastHandledPoll: undefined, items: stays }
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
