import { SemVer } from 'semver'

const capacity = 20_000
const parsed = new Map<string, SemVer | null>()

/** Longer ones are no versions to CLIs either; they come from clients and must not be remembered. */
const maxLength = 256

/** Parsing costs a microsecond and the same few thousand strings come again and again. */
function parse(version: string): SemVer | null {
  if (version.length > maxLength) return null
  const known = parsed.get(version)
  if (known !== undefined) return known
  if (parsed.size >= capacity) parsed.clear()
  const fresh = strictly(version)
  parsed.set(version, fresh)
  return fresh
}

/** The library also takes `v1.2.3` and blanks around it, which no CLI does. */
function strictly(version: string): SemVer | null {
  if (!/^\d/.test(version)) return null
  try {
    return new SemVer(version)
  } catch {
    return null
  }
}

/** Whether a CLI takes this for a version: semver 2.0 without a leading `v`. */
export function isSemver(version: string): boolean {
  return parse(version) !== null
}

/** True for `1.2.3-rc.1`, which a CLI installs only where it is asked for by name. */
export function isPrerelease(version: string): boolean {
  return (parse(version)?.prerelease.length ?? 0) > 0
}

/** Orders newest first by semver precedence, then by build metadata so that the order is total. */
export function newestFirst(a: string, b: string): number {
  if (a === b) return 0
  const [left, right] = [parse(a), parse(b)]
  if (left === null || right === null) return left === right ? compareText(a, b) : left ? -1 : 1
  return right.compare(left) || right.compareBuild(left) || compareText(a, b)
}

/** Orders oldest first by semver precedence alone: build metadata makes no difference. */
export function comparePrecedence(a: string, b: string): number {
  const [left, right] = [parse(a), parse(b)]
  if (left === null || right === null) return left === right ? 0 : left ? 1 : -1
  return left.compare(right)
}

/** Ascending by code unit; undefined counts as empty. */
export function compareText(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0
}
