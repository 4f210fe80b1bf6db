import { compareText } from './semver-order.ts'

/**
 * When an object was created, in seconds since 1970, or the number of its arrival where that is not known. V8 keeps whole
 * numbers of this size without a box.
 */
export interface Ranked {
  readonly rank: number
  readonly name: string
}

/** By age, then by name: so every replica comes to the same end. */
export const byAge = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || compareText(a.name, b.name)

export const isOlder = (a: Ranked, b: Ranked): boolean => byAge(a, b) < 0
