import type { SemVer } from 'semver'

export type Operator = '=' | '!=' | '>' | '>=' | '<' | '<=' | '~>'

export interface Clause {
  readonly operator: Operator
  /** Numbers that were not written are 0. */
  readonly version: SemVer
  /** How many numbers were written, 1 to 3. */
  readonly segments: number
}

export function clauseAllows(clause: Clause, version: SemVer): boolean {
  return rules[clause.operator](version, clause)
}

/** Whether a clause lets in prereleases of a version's numbers by naming one. */
export function namesPrereleaseOf({ version: named }: Clause, version: SemVer): boolean {
  return isPrerelease(named) && named.compareMain(version) === 0
}

const isPrerelease = (version: SemVer): boolean => version.prerelease.length > 0

/** A prerelease is only compared where the clause names one of the same numbers. */
function comparable(version: SemVer, { version: named }: Clause): boolean {
  if (!isPrerelease(version)) return true
  return isPrerelease(named) && named.compareMain(version) === 0
}

const rules: Readonly<Record<Operator, (version: SemVer, clause: Clause) => boolean>> = {
  '=': (version, { version: named }) => version.compare(named) === 0,
  '!=': (version, { version: named }) => version.compare(named) !== 0,
  '>': (version, clause) => comparable(version, clause) && version.compare(clause.version) > 0,
  '>=': (version, clause) => comparable(version, clause) && version.compare(clause.version) >= 0,
  '<': (version, clause) => comparable(version, clause) && version.compare(clause.version) < 0,
  '<=': (version, clause) => comparable(version, clause) && version.compare(clause.version) <= 0,
  '~>': allowsPessimistic,
}

/** The last number that was written may grow; the ones before stay. With one number there is no bound above. */
function allowsPessimistic(version: SemVer, clause: Clause): boolean {
  const { version: named, segments } = clause
  if (!comparable(version, clause)) return false
  if (isPrerelease(named) && !isPrerelease(version)) return false
  if (version.compare(named) < 0) return false
  if (segments >= 2 && version.major !== named.major) return false
  return segments < 3 || version.minor === named.minor
}
