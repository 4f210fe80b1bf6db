/**
 * Decides which versions of an upstream may come in: pure functions of a policy, of what is known about the versions, and of
 * the time.
 */

import semver from 'semver'
import type { HeldWhy } from '../../api/held/held.ts'
import {
  normalizeVersion,
  type PolicyException,
  type UpstreamPolicy,
} from '../../api/v1alpha1/v1alpha1.ts'
import { type ExpressionRule, expressionRule, type RuledVersion, upstreamOf } from './expression.ts'
import { type AddressRule, isSameAddress, ruleOf } from './rules.ts'

export type { ExpressionRule, RuleFacts } from './expression.ts'
export { brokenRules, type InstallationPolicy, openPolicyFile } from './policy-file.ts'
export { type AddressRule, endOf, isSameAddress } from './rules.ts'

export * from './scan-policy.ts'

const msPerUnit: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000 }
const newestOfAll = 3

/** The minimum age of one Depot. */
export interface AgePolicy {
  readonly minimumAgeMs: number
  readonly trustFirstListing: boolean
}

/** The author of a policy, who can except versions from it. */
export type PolicyOwner = 'Depot' | 'Installation'

/** The policies of one owner. Its exceptions pass nothing that another owner holds. */
interface PolicyLayer {
  readonly owner: PolicyOwner
  readonly minimumAgeMs: number
  readonly exceptions: readonly PolicyException[]
  readonly deny: readonly AddressRule[]
  /** A version has to match a rule of every list. */
  readonly allow: readonly (readonly AddressRule[])[]
  readonly rules: readonly ExpressionRule[]
}

/** All policies that a version has to meet. Its age is the longest of them. */
export interface Policy extends AgePolicy {
  /** Whether anything depends on when versions were published. */
  readonly needsAge: boolean
  /** The owner of a rule that reads ages. There are no exceptions from it. */
  readonly datedBy: PolicyOwner | undefined
  /** Whether anything depends on the licence of the source. */
  readonly needsLicence: boolean
  readonly layers: readonly PolicyLayer[]
}

/** Why a policy does not let a version in, however old it is. */
export interface PolicyRefusal {
  readonly owner: PolicyOwner
  /** A denied version is also taken back if it is stored. */
  readonly why: Exclude<HeldWhy, 'TooYoung'>
  readonly message: string
}

/** A version as an upstream lists it. */
export interface CandidateVersion {
  readonly version: string
  /** Changes with the content; undefined if the list does not say. */
  readonly mark?: string | undefined
  /** Whether upstream lists it, and its content could not be read. */
  readonly isUnread?: boolean
  /** Why it could not be read. */
  readonly problem?: string | undefined
  /** When it was published, as the host attests: in the future, or Infinity, if that cannot be true. */
  readonly publishedMs?: number | undefined
}

/** A version as earlier lists had it. */
export interface SeenVersion {
  /** The moment from which its age counts. */
  readonly sinceMs: number
  readonly mark?: string | undefined
  /** When a list named it first, if its content was never read: its age has not begun. */
  readonly unreadMs?: number | undefined
}

/**
 * The policies that a version has to meet; undefined if they let everything in.
 *
 * @param installation the policy of the whole installation, which a Depot can only tighten
 * @throws Error if a rule cannot be read
 */
export function strictest(
  ofDepot: readonly UpstreamPolicy[],
  installation?: UpstreamPolicy,
): Policy | undefined {
  const ofInstallation = installation === undefined ? [] : [installation]
  const layers = [layerOf('Installation', ofInstallation), layerOf('Depot', ofDepot)]
  const minimumAgeMs = Math.max(...layers.map((layer) => layer.minimumAgeMs))
  const rules = layers.flatMap((layer) => layer.rules)
  const datedBy = layers.find((layer) => layer.rules.some((rule) => rule.needsAge))?.owner
  const lists = layers.flatMap(({ deny, allow }) => [...deny, ...allow])
  if (minimumAgeMs === 0 && lists.length === 0 && rules.length === 0) return undefined
  const all = [...ofInstallation, ...ofDepot]
  return {
    layers,
    minimumAgeMs,
    needsAge: minimumAgeMs > 0 || datedBy !== undefined,
    datedBy,
    needsLicence: rules.some((rule) => rule.needsLicence),
    trustFirstListing: all.every(({ trustFirstListing }) => trustFirstListing !== false),
  }
}

function layerOf(owner: PolicyOwner, policies: readonly UpstreamPolicy[]): PolicyLayer {
  return {
    owner,
    minimumAgeMs: Math.max(0, ...policies.map(({ minimumAge }) => ageMs(minimumAge))),
    exceptions: policies.flatMap(({ exceptions = [] }) => exceptions),
    deny: policies.flatMap(({ deny = [] }) => deny.map((rule) => ruleOf(rule, 'deny'))),
    allow: policies.flatMap(({ allow }) =>
      allow === undefined ? [] : [allow.map((rule) => ruleOf(rule, 'allow'))],
    ),
    rules: policies.flatMap(({ rule }) => (rule === undefined ? [] : [expressionRule(rule)])),
  }
}

/** @param age such as `7d` */
function ageMs(age = '0d'): number {
  return Number(age.slice(0, -1)) * (msPerUnit[age.slice(-1)] ?? Number.NaN)
}

interface ListTimes {
  readonly nowMs: number
  /**
   * When the last list came. An old release can be moved to a new tag, so nothing that is new in this list is older.
   * Default: now.
   */
  readonly lastMs?: number | undefined
}

/**
 * Tells since when each version counts. A version that changed is young again, and one stays young whose content nobody could
 * read yet: it may come at any moment.
 *
 * @param before what earlier lists said, by version without `v`; undefined: there were none. Then only the newest versions are
 *   young, unless the host says when versions were published. Those without a believable date are young then.
 */
export function seenVersions(
  listed: readonly CandidateVersion[],
  before: ReadonlyMap<string, SeenVersion> | undefined,
  { minimumAgeMs, trustFirstListing }: AgePolicy,
  { nowMs, lastMs = nowMs }: ListTimes,
): Map<string, SeenVersion> {
  const isDated = listed.some(({ publishedMs }) => publishedMs !== undefined)
  const isTrusted = before === undefined && trustFirstListing && !isDated
  const young = isTrusted
    ? newestOf(listed.map(({ version }) => normalizeVersion(version)))
    : undefined
  const neverRead = ({ version, isUnread }: CandidateVersion): boolean =>
    isUnread === true && before?.get(normalizeVersion(version))?.mark === undefined
  const sinceOf = (version: string, one: CandidateVersion): number => {
    const { mark, publishedMs = nowMs } = one
    const pastMs = publishedMs < nowMs ? publishedMs : undefined
    const known = before?.get(version)
    if (neverRead(one) || known?.unreadMs !== undefined) return nowMs
    const isSame = known?.mark === undefined || mark === undefined || isSameMark(known.mark, mark)
    if (known !== undefined) return isSame ? Math.max(known.sinceMs, pastMs ?? 0) : nowMs
    if (pastMs !== undefined) return before ? Math.max(pastMs, lastMs) : pastMs
    return young?.has(version) === false ? nowMs - minimumAgeMs : nowMs
  }
  return new Map(
    listed.map((one) => {
      const version = normalizeVersion(one.version)
      return [
        version,
        {
          sinceMs: sinceOf(version, one),
          mark: one.mark ?? before?.get(version)?.mark,
          unreadMs: neverRead(one) ? (before?.get(version)?.unreadMs ?? nowMs) : undefined,
        },
      ]
    }),
  )
}

/** Whether two marks name the same content. Older releases kept shorter ones. */
export function isSameMark(one: string, other: string): boolean {
  return one.startsWith(other) || other.startsWith(one)
}

/** When a version may come in, which may be in the past. A version that was never listed may not. */
export function freeMs(
  seen: SeenVersion | undefined,
  { minimumAgeMs }: Pick<AgePolicy, 'minimumAgeMs'>,
): number {
  return seen === undefined ? Number.POSITIVE_INFINITY : seen.sinceMs + minimumAgeMs
}

/** The exceptions that let a version in at once, each within the policy of its owner. @param address host and path of its source */
export function exceptionsFor(
  address: string,
  version: string,
  { layers }: Pick<Policy, 'layers'>,
): readonly PolicyException[] {
  return layers.flatMap((layer) => exceptionIn(layer, address, version) ?? [])
}

function exceptionIn(
  { exceptions }: PolicyLayer,
  address: string,
  version: string,
): PolicyException | undefined {
  const isSame = (one: PolicyException) =>
    isSameAddress(one.address, address) &&
    normalizeVersion(one.version) === normalizeVersion(version)
  return exceptions.find(isSame)
}

/** The minimum ages that count for a version, of owners who made no exception for it. */
export function agesFor(
  address: string,
  version: string,
  { layers }: Pick<Policy, 'layers'>,
): Readonly<Record<PolicyOwner, number>> {
  const ageOf = (owner: PolicyOwner) => {
    const layer = layers.find((one) => one.owner === owner)
    const counts = layer !== undefined && exceptionIn(layer, address, version) === undefined
    return counts ? layer.minimumAgeMs : 0
  }
  return { Depot: ageOf('Depot'), Installation: ageOf('Installation') }
}

/** Tells why addresses refuse a version, whether it is stored or not. An exception takes precedence over `deny`, which takes precedence over `allow`. */
export function refusalOf(
  address: string,
  version: string,
  { layers }: Pick<Policy, 'layers'>,
  nowMs: number,
): PolicyRefusal | undefined {
  const holds = (rule: AddressRule) => rule.untilMs > nowMs && rule.matches(address, version)
  for (const layer of layers) {
    const denied = layer.deny.find(holds)
    if (denied === undefined || exceptionIn(layer, address, version) !== undefined) continue
    const until = denied.until === undefined ? '' : ` until ${denied.until}`
    return { owner: layer.owner, why: 'Denied', message: `denied${until}: ${denied.reason}` }
  }
  const strict = layers.find(({ allow }) => !allow.every((list) => list.some(holds)))
  const message = 'not allowed: no rule of the allow list names it'
  return strict && { owner: strict.owner, why: 'NotAllowed', message }
}

/**
 * Tells why the expression of a rule refuses a version that is not stored yet. There are no exceptions from it. Rules that read
 * who signed a provider decide when that is known.
 */
export function ruleRefusalOf(
  version: RuledVersion,
  { layers }: Pick<Policy, 'layers'>,
  nowMs: number,
): PolicyRefusal | undefined {
  const input = upstreamOf(version, nowMs)
  for (const { owner, rules } of layers) {
    const known = rules.filter((rule) => !rule.needsSigner || input['signedBy'] !== undefined)
    const broken = known.flatMap((rule) => rule.refusal(input) ?? [])[0]
    if (broken !== undefined) return { owner, why: 'Refused', message: broken }
  }
  return undefined
}

/** The same policy without its exceptions. */
export function withoutExceptions(policy: Policy): Policy {
  return { ...policy, layers: policy.layers.map((layer) => ({ ...layer, exceptions: [] })) }
}

/** The rules that have ended, and the time when the next one does. */
export function expiryOf({ layers }: Pick<Policy, 'layers'>, nowMs: number) {
  const rules = layers.flatMap(({ deny, allow }) => [...deny, ...allow.flat()])
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
