import { failAt } from './expression-error.ts'
import type { Run } from './run.ts'
import { compare, toText, type Value } from './value.ts'

/**
 * Sorts by key. Entries with equal keys keep their order.
 *
 * @param order asc (default) or desc
 */
export function sorted<T extends { readonly key: Value }>(
  entries: readonly T[],
  order: Value | undefined,
  run: Run,
  at: number,
): T[] {
  const direction = order === undefined ? 'asc' : toText(order, at)
  if (direction !== 'asc' && direction !== 'desc') {
    return failAt(at, `the order must be asc or desc, not ${direction.slice(0, 40)}`)
  }
  run.step(entries.length, at)
  const sign = direction === 'asc' ? 1 : -1
  return entries.toSorted((left, right) => sign * compare(left.key, right.key, run, at) || 0)
}
