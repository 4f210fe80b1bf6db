/** Rules of a policy that name addresses and versions. */

import semver, { SemVer } from 'semver'
import { parseConstraints } from '../../api/constraint/constraint.ts'
import { normalizeVersion, type PolicyRule } from '../../api/v1alpha1/v1alpha1.ts'

const dayMs = 86_400_000

/** A rule of `allow` or `deny`. */
export interface AddressRule extends PolicyRule {
  /** When it ends; Infinity if it does not. */
  readonly untilMs: number
  readonly matches: (address: string, version: string) => boolean
}

/** Sources are named `host:8443/path` and `host/8443/path`. */
export const withoutColon = (address: string): string => address.toLowerCase().replace(':', '/')

/**
 * @param list whether the rule refuses: then it also matches prereleases of the numbers that it names
 * @throws Error if it cannot be read
 */
export function ruleOf(rule: PolicyRule, list: 'allow' | 'deny'): AddressRule {
  const { address, versions = '', until } = rule
  const constraints = parseConstraints(versions)
  const pattern = globOf(withoutColon(address))
  const allows = (version: SemVer) =>
    constraints.allows(version) ||
    (list === 'deny' && constraints.allows(new SemVer(numbersOf(version))))
  return {
    ...rule,
    untilMs: until === undefined ? Number.POSITIVE_INFINITY : endOf(until),
    matches(at, text) {
      const version = semver.parse(normalizeVersion(text))
      // A text that is not a version meets no constraint, and is refused all the same.
      const isMet = versions === '' || (version === null ? list === 'deny' : allows(version))
      return isMet && pattern.test(withoutColon(at))
    },
  }
}

const numbersOf = ({ major, minor, patch }: SemVer) => `${major}.${minor}.${patch}`

/** A date lasts until its end, in UTC. @throws Error if there is no such date */
export function endOf(until: string): number {
  const ms = Date.parse(until)
  if (!Number.isNaN(ms)) return until.includes('T') ? ms : ms + dayMs
  throw new Error(`until "${until}" is not a date: write it as 2026-12-31`)
}

/** `*` stands for anything within a part of a path, `**` for anything. */
function globOf(text: string): RegExp {
  const source = text
    .split(/(\*+)/)
    .map((part) =>
      part.startsWith('*') ? (part.length > 1 ? '.*' : '[^/]*') : RegExp.escape(part),
    )
  return new RegExp(`^${source.join('')}$`)
}
