import type { Objects } from '../../../records/store/store.ts'
import { readyIn } from '../conditions.ts'
import { versionStatus } from './work.ts'

const names = ['synced', 'drifted', 'failed', 'pending'] as const

/** Counts the Versions in each state. */
export function versionStates(objects: Objects): ReadonlyMap<string, number> {
  const states = new Map<string, number>(names.map((state) => [state, 0]))
  for (const version of objects.list('Version')) {
    const { drift, synced, conditions } = versionStatus(version)
    const failed = readyIn(conditions)?.status === 'False'
    const state =
      drift !== undefined ? 'drifted' : failed ? 'failed' : synced ? 'synced' : 'pending'
    states.set(state, (states.get(state) ?? 0) + 1)
  }
  return states
}
