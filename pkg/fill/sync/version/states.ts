import type { Objects } from '../../../records/store/store.ts'
import { conditionOf } from '../conditions.ts'
import type { VersionStatus } from './status.ts'

const names = ['synced', 'drifted', 'failed', 'pending'] as const

/** How many Versions are in each state. */
export function versionStates(objects: Objects): ReadonlyMap<string, number> {
  const states = new Map<string, number>(names.map((state) => [state, 0]))
  for (const { status } of objects.list('Version')) {
    const { drift, synced, conditions } = (status ?? {}) as VersionStatus
    const failed = conditionOf(conditions, 'Ready')?.status === 'False'
    const state =
      drift !== undefined ? 'drifted' : failed ? 'failed' : synced ? 'synced' : 'pending'
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  return states
}
