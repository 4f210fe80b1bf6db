import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'
import type { Reason } from '../../base/errors/errors.ts'

export type ConditionType =
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

export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: Reason
  readonly message: string
}

/** What is to become of some conditions; undefined takes one away. */
export type ConditionChanges = Partial<Record<ConditionType, ConditionState | undefined>>

export const conditionTrue = (reason: Reason, message: string): ConditionState => ({
  status: 'True',
  reason,
  message,
})
export const conditionFalse = (reason: Reason, message: string): ConditionState => ({
  status: 'False',
  reason,
  message,
})

/** The conditions of one that is as it should be, or that cannot be worked on: nothing is going on. */
export const settled: ConditionChanges = {
  Reconciling: undefined,
  Stalled: undefined,
  Suspended: undefined,
}

/**
 * Conditions after changes. A time changes with its status only, and what is not named stays.
 *
 * @param at the generation that was looked at, and the time as RFC 3339
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

export function conditionOf(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}
