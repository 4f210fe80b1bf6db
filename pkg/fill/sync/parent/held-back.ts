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
  seenVersions,
  withoutExceptions,
} from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import { msOf, timeOf } from '../timings.ts'
import { fitting, refusedVersions, withRefusedVersions } from './refused-versions.ts'
import { replacedIn, writeListing } from './replaced.ts'
import type { ParentStatus } from './report.ts'
import { listingOf, rememberedVersions, seenIn } from './seen.ts'

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

interface Listed extends Omit<RuleFacts, 'sinceMs'> {
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
  readonly admits: (version: string) => boolean
  readonly mayCome: (version: string) => boolean
  /** The decisions of people that let a version in at once. */
  readonly exceptionsOf: (version: string) => readonly PolicyException[]
  /** Remembers the list, and which of the wanted versions are held back. */
  readonly remember: (parent: StoredObject, held: readonly string[]) => Promise<Held>
}

/** @param policy undefined: everything may come in, and nothing is remembered */
export function admission(
  context: Context,
  depot: StoredObject,
  parent: StoredObject | undefined,
  { address, versions, isImmutable, isAwaited, lastMs, skewMs, ...source }: Listed,
  policy: Policy | undefined,
): Admission {
  const before = listingOf(parent)
  const origin = { address, depot: keyOf(depot.metadata) }
  // A policy that asks for ages may return.
  const kept = before?.seen && { firstListedAt: before.firstListedAt, seen: before.seen }
  if (policy === undefined) {
    const forget = async (object: StoredObject) => {
      // A policy that only asks for signatures decides nothing else.
      const listing = withRefusedVersions(context, object, kept && { ...origin, ...kept }, address)
      if (listingOf(object) !== undefined || listing !== undefined)
        await writeListing(context, object, () => listing)
      return heldOf({ ...object, status: { listing } })
    }
    const admits = () => true
    return { admits, mayCome: admits, exceptionsOf: () => [], remember: forget }
  }
  const nowMs = context.clock()
  const known = before && seenIn(before, nowMs)
  const seen = seenVersions(versions, known, policy, { nowMs, lastMs })
  // A young version that upstream deletes for a while may come back with other content.
  const vanished = [...(known ?? [])].filter(
    ([version, one]) => !seen.has(version) && one.mark !== undefined && freeMs(one, policy) > nowMs,
  )
  const remembered = () =>
    rememberedVersions(new Map([...vanished, ...seen]), {
      isAwaited: (version) => seen.has(version) && isAwaited(version),
      isYoung: (one) => freeMs(one, policy) > nowMs,
    })
  const replaced = isImmutable ? replacedIn(known, seen, timeOf(nowMs)) : []
  const freeOf = (version: string, minimumAgeMs = policy.minimumAgeMs) =>
    freeMs(seen.get(normalizeVersion(version)), { minimumAgeMs })
  const isSkewed = isClockSkewed(skewMs)
  const { datedBy } = policy
  const isFree = (version: string, minimumAgeMs = policy.minimumAgeMs) => {
    const isDated = minimumAgeMs > 0 || datedBy !== undefined
    return !(isSkewed && isDated) && (minimumAgeMs === 0 || freeOf(version, minimumAgeMs) <= nowMs)
  }
  const published = new Map(
    versions.map(({ version, publishedMs = nowMs }) => [normalizeVersion(version), publishedMs]),
  )
  const problems = new Map(versions.map(({ version, problem }) => [version, problem]))
  const ruled = new Map<string, PolicyRefusal | undefined>()
  /** Evaluated once: tenants write expressions. */
  const ruleRefusal = (version: string) => {
    // No age is known then, and nothing is free.
    if (isSkewed && datedBy !== undefined) return undefined
    if (!ruled.has(version)) {
      const { sinceMs } = (policy.needsAge && seen.get(normalizeVersion(version))) || {}
      const candidate = { address, version, ...source, sinceMs }
      ruled.set(version, ruleRefusalOf(candidate, policy, nowMs))
    }
    return ruled.get(version)
  }
  const refusalIn = (version: string, from: Policy) =>
    refusalOf(address, version, from, nowMs) ?? ruleRefusal(version)
  const problemOf = (version: string) => {
    const problem = problems.get(version)
    return problem === undefined ? '' : ` (${problem})`
  }
  const strictly = withoutExceptions(policy)
  const entryOf = (version: string) => {
    const refusal = refusalIn(version, policy)
    const { sinceMs = nowMs, mark, unreadMs } = seen.get(normalizeVersion(version)) ?? {}
    const ages = agesFor(address, version, policy)
    const isOlder =
      (ages.Installation === 0 && datedBy !== 'Installation') || isFree(version, ages.Installation)
    const isHere = refusal === undefined ? !isOlder : refusal.owner === 'Installation'
    const by = isHere ? ({ by: 'Installation' } as const) : {}
    if (refusal === undefined) {
      const age = Math.max(ages.Depot, ages.Installation)
      // With skewed clocks, they are looked at again soon.
      const freeAtMs = Math.max(
        unreadMs === undefined ? freeOf(version, age) : nextTermMs(unreadMs, age, nowMs),
        isSkewed ? nowMs + skewedWaitMs : 0,
      )
      const why = 'TooYoung' as const
      const since = timeOf(unreadMs ?? sinceMs)
      const isReplaced = [...(before?.replaced ?? []), ...replaced].some(
        (one) => one.version === normalizeVersion(version) && mark && isSameMark(one.offered, mark),
      )
      const replacedNow = isReplaced ? 'upstream replaced it, so its age began again' : undefined
      const message =
        unreadMs !== undefined
          ? `upstream lists it, and its content cannot be read${problemOf(version)}, so its age has not begun`
          : replacedNow
      const publishedMs = published.get(normalizeVersion(version)) ?? nowMs
      // A host may say a time to come, which says nothing.
      const publishedAt = publishedMs < nowMs ? timeOf(publishedMs) : undefined
      return { version, since, publishedAt, until: timeOf(freeAtMs), why, message, ...by }
    }
    const { why, message } = refusal
    const entry = before?.heldBack?.find(
      (one) => one.version === version && one.message === message,
    )
    return { version, since: entry?.since ?? timeOf(nowMs), why, message, ...by }
  }
  return {
    exceptionsOf: (version) => exceptionsFor(address, version, policy),
    admits: (version) => isFree(version) && refusalIn(version, strictly) === undefined,
    mayCome(version) {
      const { Depot, Installation } = agesFor(address, version, policy)
      return (
        isFree(version, Math.max(Depot, Installation)) && refusalIn(version, policy) === undefined
      )
    },
    async remember(object, held) {
      const waiting = new Set(held.map(normalizeVersion))
      const refused = refusedVersions(context, object)
      const heldBack = [
        ...held.map(entryOf),
        ...refused.filter(({ version }) => !waiting.has(normalizeVersion(version))),
      ]
      const counted = () => ({
        firstListedAt: before?.firstListedAt ?? timeOf(nowMs),
        // Nothing may count from a wrong clock.
        seen: isSkewed ? before?.seen : remembered(),
      })
      const memory = policy.needsAge ? counted() : kept
      const listing = { ...origin, ...memory, ...fitting(heldBack) }
      const isEmpty = memory === undefined && heldBack.length === 0
      await writeListing(
        context,
        object,
        () => (isEmpty ? undefined : listing),
        replaced.filter(({ version }) => isAwaited(version)),
      )
      return heldOf({ ...object, status: { listing } })
    },
  }
}

/** At least one age and at most two from now, and the same at most polls: nothing is written while nothing changes. */
const nextTermMs = (firstMs: number, ageMs: number, nowMs: number): number =>
  ageMs === 0 ? nowMs : firstMs + (Math.floor((nowMs - firstMs) / ageMs) + 2) * ageMs

/** Without the list, which can be long and is not needed for this. */
const HeldMemory = ListingMemory.pick({ address: true, heldBack: true, heldBackCount: true })

export function heldBackIn(parent: StoredObject | undefined): readonly HeldVersion[] {
  const { listing } = (parent?.status ?? {}) as ParentStatus
  const { heldBack = [], address = '' } = HeldMemory.safeParse(listing).data ?? {}
  const readable = heldBack.filter(
    (one) => whyHeld(one) !== 'TooYoung' || msOf(one.until) !== undefined,
  )
  return readable.map((one) => ({ ...one, why: whyHeld(one), address }))
}

/** Number of held versions that do not fit into the status. */
export function unlistedIn(parent: StoredObject | undefined): number {
  const { listing } = (parent?.status ?? {}) as ParentStatus
  const { heldBack = [], heldBackCount: total = 0 } = HeldMemory.safeParse(listing).data ?? {}
  return Math.max(0, total - heldBack.length)
}

const heldOf = (parent: StoredObject): Held => ({
  heldBack: heldBackIn(parent),
  unlisted: unlistedIn(parent),
})

export function heldBackCount(objects: Objects): number {
  return (['Module', 'Provider'] as const)
    .flatMap((kind) => objects.list(kind))
    .reduce((sum, parent) => sum + heldBackIn(parent).length + unlistedIn(parent), 0)
}
