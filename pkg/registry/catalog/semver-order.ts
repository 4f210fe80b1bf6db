/** The precedence of semantic versions, straight from their text: nothing is parsed twice, and nothing is remembered. */

/** CLIs refuse longer versions too. */
const maxLength = 256

const numeric = '(?:0|[1-9][0-9]{0,15})'
const identifier = '(?:0|[1-9][0-9]*|[0-9]*[a-zA-Z-][0-9a-zA-Z-]*)'
const semver = new RegExp(
  `^(${numeric})\\.(${numeric})\\.(${numeric})(?:-(${identifier}(?:\\.${identifier})*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`,
)

/** True if a CLI accepts this as a version: semver 2.0 without a leading `v`. */
export function isSemver(version: string): boolean {
  if (rankOf(version) >= 0) return true
  if (version.length > maxLength || !semver.test(version)) return false
  return coreOf(version)
    .split('.')
    .every((part) => Number(part) <= Number.MAX_SAFE_INTEGER)
}

/** True for `1.2.3-rc.1`, which a CLI installs only where it is asked for by name. */
export function isPrerelease(version: string): boolean {
  return isSemver(version) && prereleaseOf(version) !== ''
}

/** Orders newest first by semver precedence, then by build metadata so that the order is total. */
export function newestFirst(a: string, b: string): number {
  if (a === b) return 0
  const ranks = [rankOf(a), rankOf(b)] as const
  if (ranks[0] >= 0 && ranks[1] >= 0) return ranks[1] - ranks[0]
  const [left, right] = [isSemver(a), isSemver(b)]
  if (!left || !right) return left === right ? compareText(a, b) : left ? -1 : 1
  return precedence(b, a) || compareIdentifiers(buildOf(b), buildOf(a)) || compareText(a, b)
}

/** Orders oldest first by semver precedence alone: build metadata makes no difference. */
export function comparePrecedence(a: string, b: string): number {
  const [left, right] = [isSemver(a), isSemver(b)]
  if (!left || !right) return left === right ? 0 : left ? 1 : -1
  return precedence(a, b)
}

/** Ascending by code unit; undefined counts as empty. */
export function compareText(a = '', b = ''): number {
  return a < b ? -1 : a > b ? 1 : 0
}

const partLimit = 2 ** 17

/** One number for `1.2.3`, of which most versions are, in the order of precedence; -1 for every other. */
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

function precedence(a: string, b: string): number {
  return compareCore(a, b) || comparePrerelease(prereleaseOf(a), prereleaseOf(b))
}

/** Numbers without leading zeros compare by their length, then as text. */
function compareCore(a: string, b: string): number {
  const [left, right] = [coreOf(a).split('.'), coreOf(b).split('.')]
  for (let i = 0; i < 3; i += 1) {
    const order = compareNumbers(left[i] ?? '', right[i] ?? '')
    if (order !== 0) return order
  }
  return 0
}

/** A version without a prerelease is above every one with it. */
function comparePrerelease(a: string, b: string): number {
  if (a === '' || b === '') return a === b ? 0 : a === '' ? 1 : -1
  return compareIdentifiers(a, b)
}

function compareIdentifiers(a: string, b: string): number {
  if (a === b) return 0
  const [left, right] = [a.split('.'), b.split('.')]
  for (let i = 0; i < Math.min(left.length, right.length); i += 1) {
    const order = compareIdentifier(left[i] ?? '', right[i] ?? '')
    if (order !== 0) return order
  }
  return left.length - right.length
}

function compareIdentifier(a: string, b: string): number {
  const [left, right] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)]
  if (left && right) return compareNumbers(a, b)
  return left === right ? compareText(a, b) : left ? -1 : 1
}

function compareNumbers(a: string, b: string): number {
  return a.length - b.length || compareText(a, b)
}

function coreOf(version: string): string {
  const end = version.search(/[-+]/)
  return end === -1 ? version : version.slice(0, end)
}

function prereleaseOf(version: string): string {
  const plus = version.indexOf('+')
  const release = plus === -1 ? version : version.slice(0, plus)
  const dash = release.indexOf('-')
  return dash === -1 ? '' : release.slice(dash + 1)
}

function buildOf(version: string): string {
  const plus = version.indexOf('+')
  return plus === -1 ? '' : version.slice(plus + 1)
}
