/**
 * Decides which versions of an upstream may come in: pure functions of a policy, of what is known about the versions, and of
 * the time.
 */

import semver from 'semver'
import {
  normalizeVersion,
  type PolicyException,
  type UpstreamPolicy,
} from '../../api/v1alpha1/v1alpha1.ts'
import { type AddressRule, ruleOf, withoutColon } from './rules.ts'

export type { AddressRule } from './rules.ts'

export { quarantinedAfter, type ScanFacts, scanVerdict, stricter } from './scan-policy.ts'

const msPerUnit: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }
const newestOfAll = 3

/** The minimum age of one Depot. */
export interface AgePolicy {
  readonly minimumAgeMs: number
  readonly trustFirstListing: boolean
}

/** The policies of one Depot, taken together. */
export interface Policy extends AgePolicy {
  readonly exceptions: readonly PolicyException[]
  readonly deny: readonly AddressRule[]
  /** A version has to match a rule of every list. */
  readonly allow: readonly (readonly AddressRule[])[]
}

/** Why a policy does not let a version in, however old it is. */
export interface PolicyRefusal {
  /** Whether the policy also takes back what is stored. */
  readonly isDenied: boolean
  readonly message: string
}

/** A version as an upstream lists it. */
export interface CandidateVersion {
  readonly version: string
  /** Changes with the content; undefined if the list does not say. */
  readonly mark?: string | undefined
  /** When it was published, as the host attests: in the future, or Infinity, if that cannot be true. */
  readonly publishedMs?: number | undefined
}

/** A version as earlier lists had it. */
export interface SeenVersion {
  /** The moment from which its age counts. */
  readonly sinceMs: number
  readonly mark?: string | undefined
}

/** The strictest of several policies; undefined if they let everything in. @throws Error if a rule cannot be read */
export function strictest(policies: readonly (UpstreamPolicy | undefined)[]): Policy | undefined {
  const given = policies.filter((policy) => policy !== undefined)
  const minimumAgeMs = Math.max(0, ...given.map(({ minimumAge }) => ageMs(minimumAge)))
  const deny = given.flatMap((policy) => (policy.deny ?? []).map((rule) => ruleOf(rule, 'deny')))
  const allow = given.flatMap((policy) =>
    policy.allow === undefined ? [] : [policy.allow.map((rule) => ruleOf(rule, 'allow'))],
  )
  if (minimumAgeMs === 0 && deny.length === 0 && allow.length === 0) return undefined
  return {
    deny,
    allow,
    minimumAgeMs,
    trustFirstListing: given.every(({ trustFirstListing }) => trustFirstListing !== false),
    exceptions: given.flatMap(({ exceptions = [] }) => exceptions),
  }
}

/** @param age such as `7d` */
function ageMs(age = '0d'): number {
  return Number(age.slice(0, -1)) * (msPerUnit[age.slice(-1)] ?? Number.NaN)
}

/**
 * Tells since when each version counts. A version that changed is young again.
 *
 * @param before what earlier lists said, by version without `v`; undefined: there were none. Then only the newest versions are
 *   young, unless the host says when versions were published. Those without a believable date are young then.
 * @param lastMs when the last list came. An old release can be moved to a new tag, so nothing that is new in this list is older.
 */
export function seenVersions(
  listed: readonly CandidateVersion[],
  before: ReadonlyMap<string, SeenVersion> | undefined,
  { minimumAgeMs, trustFirstListing }: AgePolicy,
  nowMs: number,
  lastMs = nowMs,
): Map<string, SeenVersion> {
  const isDated = listed.some(({ publishedMs }) => publishedMs !== undefined)
  const isTrusted = before === undefined && trustFirstListing && !isDated
  const young = isTrusted
    ? newestOf(listed.map(({ version }) => normalizeVersion(version)))
    : undefined
  const sinceOf = (version: string, { mark, publishedMs = nowMs }: CandidateVersion): number => {
    const pastMs = publishedMs < nowMs ? publishedMs : undefined
    const known = before?.get(version)
    const isSame = known?.mark === undefined || mark === undefined || known.mark === mark
    if (known !== undefined) return isSame ? Math.max(known.sinceMs, pastMs ?? 0) : nowMs
    if (pastMs !== undefined) return before ? Math.max(pastMs, lastMs) : pastMs
    return young?.has(version) === false ? nowMs - minimumAgeMs : nowMs
  }
  return new Map(
    listed.map((one) => {
      const version = normalizeVersion(one.version)
      return [
        version,
        { sinceMs: sinceOf(version, one), mark: one.mark ?? before?.get(version)?.mark },
      ]
    }),
  )
}

/** When a version may come in, which may be in the past. A version that was never listed may not. */
export function freeMs(seen: SeenVersion | undefined, { minimumAgeMs }: AgePolicy): number {
  return seen === undefined ? Number.POSITIVE_INFINITY : seen.sinceMs + minimumAgeMs
}

/** The exception that lets a version in at once. @param address host and path of its source */
export function exceptionFor(
  address: string,
  version: string,
  { exceptions }: Pick<Policy, 'exceptions'>,
): PolicyException | undefined {
  const isSame = (one: PolicyException) =>
    withoutColon(one.address) === withoutColon(address) &&
    normalizeVersion(one.version) === normalizeVersion(version)
  return exceptions.find(isSame)
}

/** Tells why a version may not come in at all. An exception outweighs `deny`, which outweighs `allow`. */
export function refusalOf(
  address: string,
  version: string,
  policy: Policy,
  nowMs: number,
): PolicyRefusal | undefined {
  const holds = (rule: AddressRule) => rule.untilMs > nowMs && rule.matches(address, version)
  const denied = policy.deny.find(holds)
  if (denied !== undefined && exceptionFor(address, version, policy) === undefined) {
    const until = denied.until === undefined ? '' : ` until ${denied.until}`
    return { isDenied: true, message: `denied${until}: ${denied.reason}` }
  }
  if (policy.allow.every((list) => list.some(holds))) return undefined
  return { isDenied: false, message: 'not allowed: no rule of the allow list names it' }
}

/** The rules that have ended, and the time when the next one does. */
export function expiryOf({ deny, allow }: Pick<Policy, 'deny' | 'allow'>, nowMs: number) {
  const rules = [...deny, ...allow.flat()]
  const expired = rules.filter(({ untilMs }) => untilMs <= nowMs)
  const nextMs = Math.min(...rules.map(({ untilMs }) => untilMs).filter((ms) => ms > nowMs))
  return { expired, nextMs }
}

/** The newest version of each major and minor number, and the newest three. */
function newestOf(versions: readonly string[]): Set<string> {
  const newestFirst = versions
    .flatMap((version) => semver.parse(version) ?? [])
    .toSorted((a, b) => semver.compareBuild(b, a))
  const lines = Map.groupBy(newestFirst, ({ major, minor }) => `${major}.${minor}`)
  const ofLines = [...lines.values()].flatMap(([newest]) => newest ?? [])
  return new Set([...newestFirst.slice(0, newestOfAll), ...ofLines].map(({ raw }) => raw))
}
