import type { VersionRow } from './version-row.ts'

/** Number of Versions in each state; `duplicate` counts some of the unservable ones once more. */
export type VersionStates = Record<VersionRow['state'] | 'duplicate', number>

export const noStates = (): VersionStates => ({
  synced: 0,
  unsynced: 0,
  failed: 0,
  unservable: 0,
  duplicate: 0,
})

/** Adds `some` to `sum`, or subtracts it if the sign is -1. */
export function addStates(sum: VersionStates, some: VersionStates, sign: 1 | -1): void {
  for (const state of Object.keys(sum) as (keyof VersionStates)[]) sum[state] += sign * some[state]
}
