import { SemVer } from 'semver'
import { type Clause, clauseAllows, namesPrereleaseOf, type Operator } from './clause.ts'

/** Clauses that must all be met. */
export interface Constraints {
  /** Whether a version meets every clause. Without clauses every one does. */
  allows(version: SemVer): boolean
  /**
   * Whether a version is chosen by them: it is allowed, and, where it is a prerelease, a clause names a prerelease of the
   * same numbers. Without clauses no prerelease is.
   */
  selects(version: SemVer): boolean
}

/** A constraint that cannot be read. The message shows the clause. */
export class ConstraintError extends Error {
  override readonly name = 'ConstraintError'
  /** Where in the text the clause begins, from 0. */
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.position = position
  }
}

const maxLength = 1024

/**
 * @param text clauses of an operator (`=`, `!=`, `>`, `>=`, `<`, `<=`, `~>`; none is `=`) and a version of one to three
 * numbers, separated by commas; empty text: no clauses
 * @throws ConstraintError
 */
export function parseConstraints(text: string): Constraints {
  if (text.length > maxLength) {
    throw new ConstraintError(`a constraint has at most ${maxLength} characters`, maxLength)
  }
  const clauses: Clause[] = []
  let position = 0
  if (text.trim() !== '') {
    for (const part of text.split(',')) {
      clauses.push(parseClause(part, position))
      position += part.length + 1
    }
  }
  const allows = (version: SemVer) => clauses.every((clause) => clauseAllows(clause, version))
  return {
    allows,
    selects: (version) =>
      allows(version) &&
      (version.prerelease.length === 0 ||
        clauses.some((clause) => namesPrereleaseOf(clause, version))),
  }
}

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
  if (matched === undefined) return fail('is no version constraint')
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
