/** Versions of an upstream that a Depot wants, and that are too young for its policy, or refused by it. */

import { type HeldWhy, whyHeld } from '../../../api/held/held.ts'
import {
  ListingMemory,
  normalizeVersion,
  type PolicyException,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { Objects, StoredObject } from '../../../records/store/store.ts'
import {
  agesFor,
  type CandidateVersion,
  exceptionsFor,
  freeMs,
  isSameMark,
  type Policy,
  type PolicyRefusal,
  type RuleFacts,
  refusalOf,
  ruleRefusalOf,
  type SeenVersion,
  seenVersions,
  withoutExceptions,
} from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import { msOf, timeOf } from '../timings.ts'
import type { ParentStatus } from './report.ts'
import {
  type Evidence,
  fitting,
  type HeldEntry,
  listingOf,
  refusedVersions,
  rememberedVersions,
  replacedIn,
  seenIn,
  withRefusedVersions,
  writeListing,
} from './seen.ts'
import { parentsIn } from './versions.ts'

const maxSkewMs = 5 * 60_000
const skewedWaitMs = 10 * 60_000

export interface HeldVersion {
  readonly version: string
  /** Time from which its age counts, or since when it is refused, RFC 3339. */
  readonly since?: string | undefined
  /** Time when it is old enough, RFC 3339; undefined if it is refused. */
  readonly until?: string | undefined
  readonly why: HeldWhy
  /** Why it is refused. */
  readonly message?: string | undefined
  /** Absent if the Depot alone holds it. */
  readonly by?: 'Installation' | undefined
  /** Host and path of its source. */
  readonly address: string
}

/** The versions of an upstream, and what its list says. */
interface Listed {
  /** Host and path of the source. */
  readonly address: string
  readonly versions: readonly CandidateVersion[]
  /** Whether upstream promises that the content of a version never changes. */
  readonly isImmutable: boolean
  /** How far the clock of its host is ahead of this one. */
  readonly skewMs?: number | undefined
  /** When upstream was last listed; undefined if nobody knows. */
  readonly lastMs: number | undefined
  /** Whether a config wants a version of which something is not stored. */
  readonly isAwaited: (version: string) => boolean
  /** Facts of the source that rules read. */
  readonly facts: Omit<RuleFacts, 'sinceMs'>
}

/** Whether the clocks of a host and of this machine differ too much to compute an age. */
export function isClockSkewed(skewMs: number | undefined): boolean {
  return skewMs !== undefined && Math.abs(skewMs) > maxSkewMs
}

/** The held versions that a status names, and the number of others, which do not fit into it. */
interface Held {
  readonly heldBack: readonly HeldVersion[]
  readonly unlisted: number
}

/** The versions of an upstream, as far as the policy of a Depot lets them in. */
export interface Admission {
  /** Whether a version, also a new commit of a known one, may come in without an exception. */
  admits(version: string): boolean
  mayCome(version: string): boolean
  /** The decisions of people that let a version in at once. */
  exceptionsOf(version: string): readonly PolicyException[]
  /** Remembers the list, and which of the wanted versions are held back. */
  remember(parent: StoredObject, held: readonly string[]): Promise<Held>
}

/** The Depot that lists, and the resource of the config. */
interface Origin {
  readonly depot: StoredObject
  /** The resource with the memory of earlier lists of the same source. */
  readonly parent: StoredObject | undefined
}

/** @param policy undefined: everything may come in, and nothing is remembered */
export function admission(
  context: Context,
  origin: Origin,
  listed: Listed,
  policy: Policy | undefined,
): Admission {
  return policy === undefined
    ? openAdmission(context, origin, listed)
    : new PolicyAdmission(context, origin, listed, policy)
}

/** The part of a memory that stays without a policy that asks for ages: such a policy may return. */
const agesIn = (memory: ListingMemory | undefined) =>
  memory?.seen && { firstListedAt: memory.firstListedAt, seen: memory.seen }

function openAdmission(
  context: Context,
  { depot, parent }: Origin,
  { address }: Pick<Listed, 'address'>,
): Admission {
  const ages = agesIn(listingOf(parent))
  const memory = ages && { address, depot: keyOf(depot.metadata), ...ages }
  return {
    admits: () => true,
    mayCome: () => true,
    exceptionsOf: () => [],
    async remember(object) {
      // A policy that only asks for signatures decides nothing else.
      const listing = withRefusedVersions(context, object, memory, address)
      if (listingOf(object) !== undefined || listing !== undefined) {
        await writeListing(context, object, () => listing)
      }
      return heldIn({ ...object, status: { listing } })
    },
  }
}

class PolicyAdmission implements Admission {
  readonly #context: Context
  readonly #depot: StoredObject
  readonly #listed: Listed
  readonly #policy: Policy
  readonly #withoutExceptions: Policy
  /** By the version without a leading `v`. */
  readonly #candidates: ReadonlyMap<string, CandidateVersion>
  readonly #nowMs: number
  readonly #isSkewed: boolean
  /** The memory of earlier lists, and their versions. */
  readonly #before: ListingMemory | undefined
  readonly #known: ReadonlyMap<string, SeenVersion> | undefined
  /** The versions of this list. */
  readonly #seen: ReadonlyMap<string, SeenVersion>
  readonly #replaced: readonly Evidence[]
  /** The refusals by rules, each evaluated once: tenants write expressions. */
  readonly #refusals = new Map<string, PolicyRefusal | undefined>()

  constructor(context: Context, { depot, parent }: Origin, listed: Listed, policy: Policy) {
    const { versions, isImmutable, lastMs, skewMs } = listed
    this.#context = context
    this.#depot = depot
    this.#listed = listed
    this.#policy = policy
    this.#withoutExceptions = withoutExceptions(policy)
    this.#candidates = new Map(versions.map((one) => [normalizeVersion(one.version), one]))
    this.#nowMs = context.clock()
    this.#isSkewed = isClockSkewed(skewMs)
    this.#before = listingOf(parent)
    this.#known = this.#before && seenIn(this.#before, this.#nowMs)
    this.#seen = seenVersions(versions, this.#known, policy, { nowMs: this.#nowMs, lastMs })
    this.#replaced = isImmutable ? replacedIn(this.#known, this.#seen, timeOf(this.#nowMs)) : []
  }

  exceptionsOf(version: string): readonly PolicyException[] {
    return exceptionsFor(this.#listed.address, version, this.#policy)
  }

  admits(version: string): boolean {
    return (
      this.#isFree(version, this.#policy.minimumAgeMs) &&
      this.#refusalBy(this.#withoutExceptions, version) === undefined
    )
  }

  mayCome(version: string): boolean {
    const { Depot, Installation } = agesFor(this.#listed.address, version, this.#policy)
    return (
      this.#isFree(version, Math.max(Depot, Installation)) &&
      this.#refusalBy(this.#policy, version) === undefined
    )
  }

  async remember(parent: StoredObject, held: readonly string[]): Promise<Held> {
    const { address, isAwaited } = this.#listed
    const waiting = new Set(held.map(normalizeVersion))
    const refused = refusedVersions(this.#context, parent)
    const heldBack = [
      ...held.map((version) => this.#entryOf(version)),
      ...refused.filter(({ version }) => !waiting.has(normalizeVersion(version))),
    ]
    const ages = this.#policy.needsAge ? this.#countedAges() : agesIn(this.#before)
    const depot = keyOf(this.#depot.metadata)
    const isEmpty = ages === undefined && heldBack.length === 0
    const listing = isEmpty ? undefined : { address, depot, ...ages, ...fitting(heldBack) }
    const replaced = this.#replaced.filter(({ version }) => isAwaited(version))
    await writeListing(this.#context, parent, () => listing, replaced)
    return heldIn({ ...parent, status: { listing } })
  }

  /** Whether a version is old enough. */
  #isFree(version: string, minimumAgeMs: number): boolean {
    const isDated = minimumAgeMs > 0 || this.#policy.datedBy !== undefined
    if (this.#isSkewed && isDated) return false
    return minimumAgeMs === 0 || this.#freeMs(version, minimumAgeMs) <= this.#nowMs
  }

  #freeMs(version: string, minimumAgeMs: number): number {
    return freeMs(this.#seen.get(normalizeVersion(version)), { minimumAgeMs })
  }

  #refusalBy(policy: Policy, version: string): PolicyRefusal | undefined {
    const refusal = refusalOf(this.#listed.address, version, policy, this.#nowMs)
    return refusal ?? this.#refusalByRule(version)
  }

  #refusalByRule(version: string): PolicyRefusal | undefined {
    const { datedBy, needsAge } = this.#policy
    // No age is known then, and nothing is free.
    if (this.#isSkewed && datedBy !== undefined) return undefined
    if (!this.#refusals.has(version)) {
      const { address, facts: source } = this.#listed
      const { sinceMs } = (needsAge && this.#seen.get(normalizeVersion(version))) || {}
      const candidate = { address, version, ...source, sinceMs }
      const refusal = ruleRefusalOf(candidate, this.#policy, this.#nowMs)
      this.#refusals.set(version, refusal)
    }
    return this.#refusals.get(version)
  }

  #entryOf(version: string): HeldEntry {
    const refusal = this.#refusalBy(this.#policy, version)
    if (refusal === undefined) return this.#youngEntryOf(version)
    const { why, message, owner } = refusal
    const known = this.#before?.heldBack?.find(
      (one) => one.version === version && one.message === message,
    )
    const since = known?.since ?? timeOf(this.#nowMs)
    return { version, since, why, message, ...byInstallation(owner === 'Installation') }
  }

  /** The entry of a version that is too young, whose content cannot be read, or whose clock is wrong. */
  #youngEntryOf(version: string): HeldEntry {
    const name = normalizeVersion(version)
    const nowMs = this.#nowMs
    const { Depot, Installation } = agesFor(this.#listed.address, version, this.#policy)
    const ageMs = Math.max(Depot, Installation)
    const { sinceMs = nowMs, unreadMs } = this.#seen.get(name) ?? {}
    const isOldEnough = Installation === 0 && this.#policy.datedBy !== 'Installation'
    // With skewed clocks, they are looked at again soon.
    const freeAtMs = Math.max(
      unreadMs === undefined ? this.#freeMs(version, ageMs) : nextTermMs(unreadMs, ageMs, nowMs),
      this.#isSkewed ? nowMs + skewedWaitMs : 0,
    )
    return {
      version,
      since: timeOf(unreadMs ?? sinceMs),
      publishedAt: this.#publishedAt(name),
      until: timeOf(freeAtMs),
      why: 'TooYoung',
      message: this.#youthOf(version),
      ...byInstallation(!isOldEnough && !this.#isFree(version, Installation)),
    }
  }

  /** Why an age counts from later than the version is there; undefined if it does not. */
  #youthOf(version: string): string | undefined {
    const name = normalizeVersion(version)
    const { mark, unreadMs } = this.#seen.get(name) ?? {}
    if (unreadMs !== undefined) {
      const { problem } = this.#candidates.get(name) ?? {}
      const why = problem === undefined ? '' : ` (${problem})`
      return `upstream lists it, and its content cannot be read${why}, so its age has not begun`
    }
    const isReplaced = [...(this.#before?.replaced ?? []), ...this.#replaced].some(
      (one) => one.version === name && mark && isSameMark(one.offered, mark),
    )
    return isReplaced ? 'upstream replaced it, so its age began again' : undefined
  }

  /** When upstream published a version. A host may say a time to come, which says nothing. */
  #publishedAt(name: string): string | undefined {
    const { publishedMs = this.#nowMs } = this.#candidates.get(name) ?? {}
    return publishedMs < this.#nowMs ? timeOf(publishedMs) : undefined
  }

  #countedAges() {
    return {
      firstListedAt: this.#before?.firstListedAt ?? timeOf(this.#nowMs),
      // Nothing may count from a wrong clock.
      seen: this.#isSkewed ? this.#before?.seen : this.#remembered(),
    }
  }

  #remembered(): ListingMemory['seen'] {
    const isYoung = (one: SeenVersion) => freeMs(one, this.#policy) > this.#nowMs
    // A young version that upstream deletes for a while may come back with other content.
    const vanished = [...(this.#known ?? [])].filter(
      ([version, one]) => !this.#seen.has(version) && one.mark !== undefined && isYoung(one),
    )
    return rememberedVersions(new Map([...vanished, ...this.#seen]), {
      isAwaited: (version) => this.#seen.has(version) && this.#listed.isAwaited(version),
      isYoung,
    })
  }
}

const byInstallation = (isHeld: boolean) => (isHeld ? ({ by: 'Installation' } as const) : {})

/** At least one age and at most two from now, and the same at most polls: nothing is written while nothing changes. */
const nextTermMs = (firstMs: number, ageMs: number, nowMs: number): number =>
  ageMs === 0 ? nowMs : firstMs + (Math.floor((nowMs - firstMs) / ageMs) + 2) * ageMs

/** Without the list, which can be long and is not needed for this. */
const HeldMemory = ListingMemory.pick({ address: true, heldBack: true, heldBackCount: true })

export function heldIn(parent: StoredObject | undefined): Held {
  const { listing } = (parent?.status ?? {}) as ParentStatus
  const {
    heldBack: listed = [],
    heldBackCount: total = 0,
    address = '',
  } = HeldMemory.safeParse(listing).data ?? {}
  const heldBack = listed
    .map((one) => ({ ...one, why: whyHeld(one), address }))
    .filter(({ why, until }) => why !== 'TooYoung' || msOf(until) !== undefined)
  return { heldBack, unlisted: Math.max(0, total - listed.length) }
}

export const heldBackIn = (parent: StoredObject | undefined): readonly HeldVersion[] =>
  heldIn(parent).heldBack

export function heldBackCount(objects: Objects): number {
  return parentsIn(objects)
    .map((parent) => heldIn(parent))
    .reduce((sum, { heldBack, unlisted }) => sum + heldBack.length + unlisted, 0)
}
