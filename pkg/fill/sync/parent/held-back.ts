/** Versions of an upstream that a Depot wants, and that are too young for its policy. */

import {
  ListingMemory,
  normalizeVersion,
  type PolicyException,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { Objects, StoredObject } from '../../../records/store/store.ts'
import {
  type AgePolicy,
  exceptionFor,
  freeMs,
  type SeenVersion,
  seenVersions,
} from '../../policy/policy.ts'
import type { UpstreamVersion } from '../../sources/sources.ts'
import { conditionTrue } from '../conditions.ts'
import { type Context, msOf, timeOf } from '../context.ts'
import { writeStatus } from '../status.ts'
import type { ParentStatus } from './report.ts'

const maxNamed = 10
/** How much of a commit the status remembers: nobody can make another commit that begins alike. */
const markLength = 24

export interface HeldVersion {
  readonly version: string
  /** RFC 3339. */
  readonly until: string
  /** Host and path of its source. */
  readonly address: string
}

interface Listed {
  /** Host and path of the source. */
  readonly address: string
  readonly versions: readonly Pick<UpstreamVersion, 'version' | 'commit' | 'publishedAt'>[]
  /** When upstream was last listed; undefined if nobody knows. */
  readonly lastMs: number | undefined
}

/** The versions of an upstream, as far as the policy of a Depot lets them in. */
export interface Admission {
  /** Whether a version, also a new commit of a known one, may come in. */
  readonly admits: (version: string) => boolean
  /** The decision of a person that lets a version in at once. */
  readonly exceptionOf: (version: string) => PolicyException | undefined
  /** Remembers the list, and what is held back of the wanted versions. */
  readonly remember: (
    parent: StoredObject,
    wanted: readonly string[],
  ) => Promise<readonly HeldVersion[]>
}

/** @param policy undefined: everything may come in, and nothing is remembered */
export function admission(
  context: Context,
  parent: StoredObject | undefined,
  { address, versions, lastMs }: Listed,
  policy: AgePolicy | undefined,
): Admission {
  const before = listingOf(parent)
  if (policy === undefined) {
    const forget = async (object: StoredObject) => {
      if (before !== undefined) await writeListing(context, object, undefined)
      return []
    }
    return { admits: () => true, exceptionOf: () => undefined, remember: forget }
  }
  const nowMs = context.clock()
  const marked = versions.map(({ version, commit, publishedAt }) => ({
    version,
    mark: commit?.slice(0, markLength),
    publishedMs: pastMs(publishedAt, nowMs),
  }))
  const seen = seenVersions(marked, before && seenIn(before, nowMs), policy, nowMs, lastMs)
  const freeOf = (version: string) => freeMs(seen.get(normalizeVersion(version)), policy)
  const admits = (version: string) => freeOf(version) <= nowMs
  return {
    admits,
    exceptionOf: (version) => exceptionFor(address, version, policy),
    async remember(object, wanted) {
      const heldBack = wanted
        .filter((version) => !admits(version))
        .map((version) => ({ version, until: timeOf(freeOf(version)) }))
      await writeListing(context, object, {
        address,
        firstListedAt: before?.firstListedAt ?? timeOf(nowMs),
        seen: written(seen),
        ...(heldBack.length > 0 && { heldBack }),
      })
      return heldBack.map((one) => ({ ...one, address }))
    },
  }
}

async function writeListing(
  context: Context,
  object: StoredObject,
  listing: ListingMemory | undefined,
): Promise<void> {
  // The resource is observed when its Versions exist.
  const change = { fields: { listing }, conditions: {}, isObserved: false }
  await writeStatus<ParentStatus>(context, object, () => change)
}

function listingOf(parent: StoredObject | undefined): ListingMemory | undefined {
  return ListingMemory.safeParse((parent?.status as ParentStatus | undefined)?.listing).data
}

/** Tells which versions earlier lists had. */
export function seenBefore(parent: StoredObject | undefined): (version: string) => boolean {
  const { seen = [] } = listingOf(parent) ?? {}
  const versions = new Set(
    seen.flatMap((group) => group.versions.map((text) => text.split('@')[0] ?? '')),
  )
  return (version) => versions.has(normalizeVersion(version))
}

/** @returns undefined if the time is malformed or in the future */
function pastMs(time: string | undefined, nowMs: number): number | undefined {
  const ms = msOf(time)
  return ms !== undefined && ms <= nowMs ? ms : undefined
}

function seenIn({ seen }: ListingMemory, nowMs: number): Map<string, SeenVersion> {
  const all = seen.flatMap(({ since, versions }) =>
    versions.map((text) => {
      const [version = '', mark] = text.split('@')
      return [version, { sinceMs: pastMs(since, nowMs) ?? nowMs, mark }] as const
    }),
  )
  return new Map(all)
}

function written(seen: ReadonlyMap<string, SeenVersion>): ListingMemory['seen'] {
  const groups = Map.groupBy(seen, ([, { sinceMs }]) => timeOf(sinceMs))
  return [...groups]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([since, group]) => ({
      since,
      versions: group
        .map(([version, { mark }]) => (mark === undefined ? version : `${version}@${mark}`))
        .toSorted(),
    }))
}

/** Without the list, which can be long and is not needed for this. */
const HeldMemory = ListingMemory.pick({ address: true, heldBack: true })

export function heldBackIn(parent: StoredObject | undefined): readonly HeldVersion[] {
  const { listing } = (parent?.status ?? {}) as ParentStatus
  const { heldBack = [], address = '' } = HeldMemory.safeParse(listing).data ?? {}
  const withTime = heldBack.filter(({ until }) => msOf(until) !== undefined)
  return withTime.map((one) => ({ ...one, address }))
}

/** Tells who let a version in although it is too young. */
export function reportException(
  { objects }: Context,
  object: StoredObject,
  item: string,
  { version, by, reason }: PolicyException,
): void {
  const note = `${item} ${version} comes in before it is old enough, by the exception of ${by}: ${reason}`
  objects.event({ object, type: 'Normal', reason: 'Excepted', note: printable(note, 1024) })
}

export function heldBackCount(objects: Objects): number {
  return (['Module', 'Provider'] as const)
    .flatMap((kind) => objects.list(kind))
    .reduce((sum, parent) => sum + heldBackIn(parent).length, 0)
}

/** Absent if nothing is held back. */
export function heldBackCondition(
  held: readonly { readonly name: string; readonly heldBack: readonly HeldVersion[] }[],
) {
  const all = held
    .flatMap(({ name, heldBack }) => heldBack.map((one) => ({ name, ...one })))
    .toSorted((a, b) => a.until.localeCompare(b.until) || a.name.localeCompare(b.name))
  if (all.length === 0) return undefined
  const named = all
    .slice(0, maxNamed)
    .map(({ name, version, until, address }) => `${name} ${version} (${address}) until ${until}`)
  const more = all.length > maxNamed ? `, and ${all.length - maxNamed} more` : ''
  return conditionTrue(
    'HeldBack',
    `too young for the policy (${all.length}): ${named.join(', ')}${more}; each is stored by itself then; to store one at once, name it in spec.policy.exceptions with address, version, reason and by`,
  )
}
