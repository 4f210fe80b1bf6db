/** Rules of a policy that name addresses and versions. */

import { RE2JS } from 're2js'
import semver, { SemVer } from 'semver'
import { parseConstraints } from '../../api/constraint/constraint.ts'
import { normalizeVersion, type PolicyRule } from '../../api/v1alpha1/v1alpha1.ts'

const dayMs = 86_400_000

/** A rule of `allow` or `deny`. */
export interface AddressRule extends PolicyRule {
  /** When it ends; Infinity if it does not. */
  readonly untilMs: number
  readonly matches: (address: string, version: string) => boolean
  readonly isAt: (address: string) => boolean
}

/** Sources are named `host:8443/path` and `host/8443/path`. */
const withoutColon = (address: string): string => address.toLowerCase().replace(':', '/')

export const isSameAddress = (one: string, other: string): boolean =>
  withoutColon(one) === withoutColon(other)

/**
 * @param list whether the rule refuses: then it also matches prereleases of the numbers that it names
 * @throws Error if it cannot be read
 */
export function ruleOf(rule: PolicyRule, list: 'allow' | 'deny'): AddressRule {
  const { address, versions = '', until } = rule
  const constraints = parseConstraints(versions)
  const isAt = globOf(withoutColon(address))
  const allows = (version: SemVer) =>
    constraints.allows(version) ||
    (list === 'deny' && constraints.allows(new SemVer(numbersOf(version))))
  return {
    ...rule,
    isAt,
    untilMs: until === undefined ? Number.POSITIVE_INFINITY : endOf(until),
    matches(at, text) {
      if (!isAt(at)) return false
      const version = semver.parse(normalizeVersion(text))
      // A text that is not a version meets no constraint, and is refused all the same.
      return versions === '' || (version === null ? list === 'deny' : allows(version))
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

/** `*` stands for anything within a part of a path, `**` for anything. Matched in linear time: tenants write the patterns. */
function globOf(text: string): (address: string) => boolean {
  if (!text.includes('*')) return (address) => withoutColon(address) === text
  const source = text
    .split(/(\*+)/)
    .map((part) => (part.startsWith('*') ? (part.length > 1 ? '.*' : '[^/]*') : RE2JS.quote(part)))
  const pattern = RE2JS.compile(source.join(''), RE2JS.DOTALL)
  let known: { readonly address: string; readonly isMatch: boolean } | undefined
  return (address) => {
    // It is asked for every version of one source.
    if (known?.address !== address)
      known = { address, isMatch: pattern.matches(withoutColon(address)) }
    return known.isMatch
  }
}
