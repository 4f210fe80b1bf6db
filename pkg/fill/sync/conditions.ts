import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'

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
