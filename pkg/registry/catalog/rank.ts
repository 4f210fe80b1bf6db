import { compareText } from './semver-order.ts'

/**
 * The time of an object's creation in seconds since 1970, or the number of its arrival if that is unknown. V8 stores whole
 * numbers of this size without an object.
 */
export interface Ranked {
  readonly rank: number
  readonly name: string
}

/** Orders by age, then by name, so that every replica gets the same result. */
export const byAge = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || compareText(a.name, b.name)

export const isOlder = (a: Ranked, b: Ranked): boolean => byAge(a, b) < 0
