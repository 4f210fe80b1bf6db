import { parse, type SemVer } from 'semver'

/** Whether a CLI accepts this as a version: semver 2.0 without a leading `v`. */
export function isSemver(version: string): boolean {
  return rankOf(version) >= 0 || parsed(version) !== null
}

/** Whether it is like `1.2.3-rc.1`, which a CLI installs only if it is named exactly. */
export function isPrerelease(version: string): boolean {
  return rankOf(version) < 0 && (parsed(version)?.prerelease.length ?? 0) > 0
}

/** Orders newest first by semver precedence, then by build metadata so that the order is total. */
export function newestFirst(a: string, b: string): number {
  if (a === b) return 0
  const ranks = [rankOf(a), rankOf(b)] as const
  if (ranks[0] >= 0 && ranks[1] >= 0) return ranks[1] - ranks[0]
  const [left, right] = [parsed(a), parsed(b)]
  if (left !== null && right !== null) {
    return right.compare(left) || right.compareBuild(left) || compareText(a, b)
  }
  return Number(left === null) - Number(right === null) || compareText(a, b)
}

/** Orders oldest first by semver precedence alone: build metadata makes no difference. */
export function comparePrecedence(a: string, b: string): number {
  const ranks = [rankOf(a), rankOf(b)] as const
  if (ranks[0] >= 0 && ranks[1] >= 0) return ranks[0] - ranks[1]
  const [left, right] = [parsed(a), parsed(b)]
  if (left !== null && right !== null) return left.compare(right)
  return Number(left !== null) - Number(right !== null)
}

/** Ascending by code unit; undefined counts as empty. */
export function compareText(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0
}

/**
 * The creation time of an object in seconds since 1970, or its number of arrival if that is unknown. V8 stores whole numbers
 * of this size without an object.
 */
export interface Ranked {
  readonly rank: number
  readonly name: string
}

/** Orders by age, then by name, so that every replica gets the same result. */
export const byAge = (a: Ranked, b: Ranked): number =>
  a.rank - b.rank || compareText(a.name, b.name)

export const isOlder = (a: Ranked, b: Ranked): boolean => byAge(a, b) < 0

/** Index of the first row at or after the position. */
export function lowerBound<T>(sorted: readonly T[], isBefore: (one: T) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(sorted[middle] as T)) low = middle + 1
    else high = middle
  }
  return low
}

/** The library also accepts `v1.2.3` and surrounding blanks, which no CLI does. */
const parsed = (version: string): SemVer | null =>
  /^\d(?:.*\S)?$/.test(version) ? parse(version) : null

const partLimit = 2 ** 17

/** One number for versions of the form `1.2.3`, in the order of precedence; -1 for other versions. */
function rankOf(version: string): number {
  let rank = 0
  let part = -1
  let dots = 0
  for (let i = 0; i < version.length; i += 1) {
    const code = version.charCodeAt(i)
    if (code === 46 && part >= 0) {
      rank = rank * partLimit + part
      part = -1
      dots += 1
    } else if (code < 48 || code > 57 || part === 0) return -1
    else part = (part < 0 ? 0 : part * 10) + code - 48
    if (part >= partLimit) return -1
  }
  return dots === 2 && part >= 0 ? rank * partLimit + part : -1
}
