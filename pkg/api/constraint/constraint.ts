/**
 * Version constraints in the syntax of Terraform and OpenTofu: `>= 1.2, != 1.4.0`, `~> 2.1`. They have the meaning that they
 * have there; npm's ranges use the same signs with other meanings.
 *
 * @see https://developer.hashicorp.com/terraform/language/expressions/version-constraints
 */

import semver, { SemVer } from 'semver'

/**
 * Selects versions, newest first. If two texts spell one version (`v1.0.0`, `1.0.0`), the first is kept.
 *
 * @param historyLimit maximum number of versions; 0 or less, or absent: all
 */
export function selectVersions(
  versions: Iterable<string>,
  constraints: Constraints,
  { historyLimit = 0 }: { readonly historyLimit?: number | undefined } = {},
): { readonly versions: readonly string[]; readonly skipped: number } {
  const chosen = new Map<string, { readonly spelled: string; readonly version: semver.SemVer }>()
  let skipped = 0
  for (const spelled of versions) {
    const version = semver.parse(spelled.trim().replace(/^v/i, ''))
    if (version === null) {
      skipped += 1
      continue
    }
    // `raw` keeps the build metadata, which tells versions apart here.
    if (constraints.selects(version) && !chosen.has(version.raw)) {
      chosen.set(version.raw, { spelled, version })
    }
  }
  const newestFirst = [...chosen.values()].toSorted((a, b) =>
    semver.compareBuild(b.version, a.version),
  )
  const kept = historyLimit > 0 ? newestFirst.slice(0, historyLimit) : newestFirst
  return { versions: kept.map(({ spelled }) => spelled), skipped }
}

type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~>'

interface Clause {
  readonly operator: Operator
  /** Numbers that were not written are 0. */
  readonly version: SemVer
  /** How many numbers were written, 1 to 3. */
  readonly segments: number
}

/** Clauses that must all be met. */
export interface Constraints {
  /** Whether a version meets every clause; without clauses, every version does. */
  allows(version: SemVer): boolean
  /**
   * Whether a version is selected: it is allowed and, if it is a prerelease, a clause names a prerelease of the same
   * numbers. Without clauses no prerelease is selected.
   */
  selects(version: SemVer): boolean
}

/** A constraint that is not valid. The message shows the clause. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  /** Begin of the clause in the text, from 0. */
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

export const maxConstraintLength = 1024

/**
 * @param text clauses of an operator (`=`, `!=`, `>`, `>=`, `<`, `<=`, `~>`; none means `=`) and a version of one to three
 * numbers, separated by commas; an empty text has no clauses
 * @throws ConstraintError
 */
export function parseConstraints(text: string): Constraints {
  if (text.length > maxConstraintLength) {
    throw new ConstraintError(
      `a constraint has at most ${maxConstraintLength} characters`,
      maxConstraintLength,
    )
  }
  const clauses: Clause[] = []
  let position = 0
  for (const part of text.trim() === '' ? [] : text.split(',')) {
    clauses.push(parseClause(part, position))
    position += part.length + 1
  }
  const allows = (version: SemVer) =>
    clauses.every((clause) => rules[clause.operator](version, clause))
  return {
    allows,
    selects: (version) =>
      allows(version) &&
      (!isPrerelease(version) || clauses.some((clause) => namesPrereleaseOf(clause, version))),
  }
}

const identifier = '(0|[1-9][0-9]*|[0-9]*[A-Za-z-][0-9A-Za-z-]*)'
const clauseText = `\\s*((=|!=|>=|<=|>|<|~>)\\s*)?v?[0-9]{1,15}(\\.[0-9]{1,15}){0,2}(-${identifier}(\\.${identifier})*)?(\\+[0-9A-Za-z.~-]+)?\\s*`

/**
 * Constraints of at least one clause that `parseConstraints` accepts, for API servers to check, together with
 * `constraintLengths` and `maxConstraintLength`.
 */
export const constraintSyntax = new RegExp(`^${clauseText}(,${clauseText})*$`)

/** A semantic version has at most 256 characters; `1` is short for `1.0.0`. */
export const constraintLengths = /^[^,]{0,252}(,[^,]{0,252})*$/

const clauseSyntax =
  /^\s*(=|!=|>=|<=|>|<|~>)?\s*v?(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.~-]+))?(?:\+([0-9A-Za-z.~-]+))?\s*$/

function parseClause(text: string, position: number): Clause {
  const [matched, operator = '=', major, minor, patch, prerelease] = clauseSyntax.exec(text) ?? []
  const begin = position + (text.length - text.trimStart().length)
  const fail = (why: string): never => {
    throw new ConstraintError(
      `${JSON.stringify(text.trim())} at character ${begin + 1} ${why}: write an operator and a version, such as ">= 1.2.0"`,
      begin,
    )
  }
  if (matched === undefined) return fail('is not a version constraint')
  const numbers = [major, minor, patch].filter((number) => number !== undefined)
  const [a = '0', b = '0', c = '0'] = numbers.map((number) => number.replace(/^0+(?=\d)/, ''))
  const full = `${a}.${b}.${c}${prerelease === undefined ? '' : `-${prerelease}`}`
  try {
    return {
      operator: operator as Operator,
      version: new SemVer(full),
      segments: numbers.length,
    }
  } catch {
    return fail('holds no semantic version')
  }
}

const isPrerelease = (version: SemVer): boolean => version.prerelease.length > 0

/** Whether a clause names a prerelease of a version's numbers. */
const namesPrereleaseOf = ({ version: named }: Clause, version: SemVer): boolean =>
  isPrerelease(named) && named.compareMain(version) === 0

type Rule = (version: SemVer, clause: Clause) => boolean

/** A prerelease is only compared with a clause that names one of the same numbers. */
const ordered =
  (accepts: (order: number) => boolean): Rule =>
  (version, clause) =>
    (!isPrerelease(version) || namesPrereleaseOf(clause, version)) &&
    accepts(version.compare(clause.version))

/** The last written number may grow, the ones before it may not. A single number has no upper bound. */
const pessimistic: Rule = (version, { version: named, segments }) => {
  if (isPrerelease(named) && !isPrerelease(version)) return false
  if (segments >= 2 && version.major !== named.major) return false
  return segments < 3 || version.minor === named.minor
}

const atLeast = ordered((order) => order >= 0)

const rules: Readonly<Record<Operator, Rule>> = {
  '=': (version, { version: named }) => version.compare(named) === 0,
  '!=': (version, { version: named }) => version.compare(named) !== 0,
  '>': ordered((order) => order > 0),
  '>=': atLeast,
  '<': ordered((order) => order < 0),
  '<=': ordered((order) => order <= 0),
  '~>': (version, clause) => atLeast(version, clause) && pessimistic(version, clause),
}

/**
 * Finds a version that one constraint allows and another refuses. What a constraint allows changes only at the versions that
 * it names and just after them, so these decide for all versions.
 *
 * @param from undefined allows every version
 * @returns undefined if everything that `from` allows is allowed by `to`
 * @throws ConstraintError
 */
export function excludedVersion(
  from: string | undefined,
  to: string | undefined,
): string | undefined {
  const [before, after] = [from, to].map((text) => parseConstraints(text ?? ''))
  const named = `${from ?? ''},${to ?? ''}`.matchAll(
    /(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?/g,
  )
  const candidates = [...named].flatMap(([, major = 0, minor = 0, patch = 0, prerelease]) => [
    ...neighbours(Number(major), Number(minor), Number(patch)),
    ...(prerelease === undefined ? [] : [`${major}.${minor}.${patch}-${prerelease}`]),
  ])
  return [...new Set(['0.0.0', ...candidates])].find((text) => {
    const version = semver.parse(text)
    // Some are too large for a version.
    if (version === null) return false
    return before?.allows(version) === true && after?.allows(version) === false
  })
}

/** A version, and the ends of the intervals that an operator can make of it. */
const neighbours = (major: number, minor: number, patch: number): string[] => [
  `${major}.${minor}.${patch}`,
  `${major}.${minor}.${patch + 1}`,
  `${major}.${minor + 1}.0`,
  `${major + 1}.0.0`,
  ...(patch > 0 ? [`${major}.${minor}.${patch - 1}`] : []),
  ...(patch === 0 && minor > 0 ? [`${major}.${minor - 1}.999999`] : []),
  ...(patch === 0 && minor === 0 && major > 0 ? [`${major - 1}.999999.0`] : []),
]
