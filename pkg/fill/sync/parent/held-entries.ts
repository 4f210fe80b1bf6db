import { heldWhys, whyHeld } from '../../../api/held/held.ts'
import type { ListingMemory } from '../../../api/v1alpha1/v1alpha1.ts'

const maxHeldBack = 1000
/** Reasons are written by people, and can be long. */
const maxHeldBytes = 200_000

export type HeldEntry = NonNullable<ListingMemory['heldBack']>[number]

/**
 * As many as a status can hold: first those that come in next, last those that people do not wait for.
 *
 * @param unlisted how many more there are
 */
export function fitting(
  held: readonly HeldEntry[],
  unlisted = 0,
): Pick<ListingMemory, 'heldBack' | 'heldBackCount'> {
  if (held.length === 0) return {}
  const kept = cut(held)
  const total = held.length + unlisted
  if (kept.length === total) return { heldBack: kept }
  const rank = (one: HeldEntry) => `${heldWhys.indexOf(whyHeld(one))} ${one.until ?? ''}`
  const sorted = held.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return { heldBack: cut(sorted), heldBackCount: total }
}

function cut(held: readonly HeldEntry[]): HeldEntry[] {
  let left = maxHeldBytes
  return held.slice(0, maxHeldBack).filter((one) => {
    left -= Buffer.byteLength(JSON.stringify(one))
    return left >= 0
  })
}
