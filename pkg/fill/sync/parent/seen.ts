/** The memory of a Module or Provider: versions of earlier lists of its upstream, and versions that are held back. */

import { heldWhys, whyHeld } from '../../../api/held/held.ts'
import {
  ListingMemory,
  normalizeVersion,
  type ParentKind,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { isSameMark, type PolicyOwner, type SeenVersion } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { signatureOwnerOf, wholePolicyOf } from '../depot/configs.ts'
import { depotLabel, depotOf } from '../depot/made.ts'
import { keyOf } from '../objects.ts'
import { readyIn, writeStatus } from '../status.ts'
import { msOf, timeOf } from '../timings.ts'
import type { ParentStatus } from './report.ts'
import { ownedBy } from './versions.ts'

/** API servers refuse objects of more than about 1.5 MB. */
const maxSeenBytes = 600_000
const groupBytes = '{"since":"2026-11-26T08:00:00Z","versions":[]},'.length

export function listingOf(parent: StoredObject | undefined): ListingMemory | undefined {
  return ListingMemory.safeParse((parent?.status as ParentStatus | undefined)?.listing).data
}

/** Tells which versions earlier lists had. */
export function seenBefore(parent: StoredObject | undefined): (version: string) => boolean {
  const seen = listingOf(parent)?.seen ?? []
  const versions = new Set(
    seen.flatMap((group) => group.versions.map((text) => text.split('@')[0] ?? '')),
  )
  return (version) => versions.has(normalizeVersion(version))
}

export function seenIn(
  { seen }: ListingMemory,
  nowMs: number,
): ReadonlyMap<string, SeenVersion> | undefined {
  if (seen === undefined) return undefined
  const all = seen.flatMap(({ since, versions }) =>
    versions.map((text) => {
      const [version = '', mark] = text.split('@')
      const sinceMs = pastMs(since, nowMs) ?? nowMs
      const unread = { sinceMs: nowMs, unreadMs: sinceMs }
      return [version, mark === '' ? unread : { sinceMs, mark }] as const
    }),
  )
  return new Map(all)
}

/** @returns undefined if the time is malformed or in the future */
function pastMs(time: string | undefined, nowMs: number): number | undefined {
  const ms = msOf(time)
  return ms !== undefined && ms <= nowMs ? ms : undefined
}

/** Uses of the memory. */
interface Memory {
  /** Whether a version waits: its mark is what its age counts for. */
  readonly isAwaited: (version: string) => boolean
  readonly isYoung: (one: SeenVersion) => boolean
}

/**
 * As many versions as a status can hold. A list of very many forgets the marks of the oldest: a tag of them that moves is not
 * seen. Then it forgets versions, which are young if a later list has them: first those that nobody waits for, and of each kind
 * the newest, so that those that wait come in one after the other.
 */
export function rememberedVersions(
  seen: ReadonlyMap<string, SeenVersion>,
  { isAwaited, isYoung }: Memory,
): ListingMemory['seen'] {
  const sizes = new Map<string, number>()
  for (const one of seen.values()) {
    sizes.set(rememberedAt(one), (sizes.get(rememberedAt(one)) ?? 0) + 1)
  }
  let over = sizes.size * groupBytes - maxSeenBytes
  for (const [version, one] of seen) over += bytesOf(textOf(version, one))
  const kept = new Map(seen)
  if (over > 0) {
    const oldest = [...seen].toSorted(([, one], [, other]) => one.sinceMs - other.sinceMs)
    for (const [version, one] of oldest) {
      if (over <= 0) break
      if (one.mark === undefined || isAwaited(version) || isYoung(one)) continue
      over -= bytesOf(textOf(version, one)) - bytesOf(version)
      kept.set(version, { sinceMs: one.sinceMs })
    }
    const newest = oldest.map(([version]) => version).toReversed()
    const [awaited, others] = [true, false].map((is) =>
      newest.filter((one) => isAwaited(one) === is),
    )
    for (const version of [...(others ?? []), ...(awaited ?? [])]) {
      if (over <= 0) break
      const one = kept.get(version) ?? { sinceMs: 0 }
      const since = rememberedAt(one)
      const left = (sizes.get(since) ?? 1) - 1
      sizes.set(since, left)
      over -= bytesOf(textOf(version, one)) + (left === 0 ? groupBytes : 0)
      kept.delete(version)
    }
  }
  return [...Map.groupBy(kept, ([, one]) => rememberedAt(one))]
    .toSorted(([a], [b]) => a.localeCompare(b))
    .map(([since, group]) => ({
      since,
      versions: group.map(([version, one]) => textOf(version, one)).toSorted(),
    }))
}

/** The same at each list, so that nothing is written while nothing changes. */
const rememberedAt = ({ sinceMs, unreadMs = sinceMs }: SeenVersion): string => timeOf(unreadMs)

const textOf = (version: string, { mark, unreadMs }: Omit<SeenVersion, 'sinceMs'>): string => {
  const named = unreadMs === undefined ? mark : ''
  return named === undefined ? version : `${version}@${named}`
}

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text)) + 1

/** The Depot of a Module or Provider, and what its lists knew about a version. */
export function letIn(context: Context, parent: StoredObject | undefined, version: string) {
  const depot = depotOf(context, parent)
  const listing: ListingMemory | undefined = listingOf(parent)
  const all = listing && seenIn(listing, context.clock())
  const seen: SeenVersion | undefined = all?.get(normalizeVersion(version))
  return { depot, policy: wholePolicyOf(context, depot).policy, listing, seen }
}

const maxEvidence = 100

export type Evidence = NonNullable<ListingMemory['replaced']>[number]

/** Those whose content is not that of the last list. @param at RFC 3339 */
export function replacedIn(
  before: ReadonlyMap<string, SeenVersion> | undefined,
  now: ReadonlyMap<string, SeenVersion>,
  at: string,
): Evidence[] {
  if (before === undefined) return []
  return [...now].flatMap(([version, { mark }]) => {
    const seen = before.get(version)?.mark
    if (seen === undefined || mark === undefined || isSameMark(seen, mark)) return []
    return [{ version, at, seen, offered: mark }]
  })
}

/** The evidence that a status keeps, and the part of it that is new: a content raises one alarm, whoever sees it, and how often. */
function newEvidence(before: readonly Evidence[] = [], replaced: readonly Evidence[]) {
  const isKnown = ({ version, offered }: Evidence) =>
    before.some((one) => one.version === version && isSameMark(one.offered, offered))
  const fresh = replaced.filter((one) => !isKnown(one))
  const all = [...before, ...fresh].slice(-maxEvidence)
  return { all: all.length > 0 ? all : undefined, fresh }
}

/**
 * Writes a listing into the status of a Module or Provider, with evidence of versions that upstream replaced. Then raises the
 * alarm that a stored version raises, too, for those that the status did not know.
 *
 * @param change computed from the current listing; undefined removes it
 * @returns whether it is written
 */
export async function writeListing(
  context: Pick<Context, 'objects' | 'clock' | 'metrics'>,
  object: StoredObject,
  change: (before: ListingMemory | undefined) => ListingMemory | undefined,
  replaced: readonly Evidence[] = [],
): Promise<boolean> {
  let fresh: readonly Evidence[] = []
  let address = ''
  const written = await writeStatus<ParentStatus>(context, object, (status) => {
    const before = listingOf({ ...object, status })
    const listing = change(before)
    const isSameSource = before?.address === listing?.address
    const evidence = newEvidence(isSameSource ? before?.replaced : [], replaced)
    fresh = listing === undefined ? [] : evidence.fresh
    address = listing?.address ?? ''
    return {
      fields: { listing: listing && { ...listing, replaced: evidence.all } },
      conditions: {},
      // The resource is observed when its Versions exist.
      isObserved: false,
    }
  })
  if (written === undefined) return false
  const { metrics, objects } = context
  for (const { version, seen, offered } of fresh) {
    metrics.substituted(object.kind as ParentKind)
    const note = `${address} has other content under ${version} than before: ${offered} instead of ${seen}. It was not stored yet, and its age begins again`
    const reason = 'UpstreamSubstitution'
    objects.event({ object, type: 'Warning', reason, note })
  }
  return true
}

const maxHeldBack = 1000
/** Reasons are written by people, and can be long. */
const maxHeldBytes = 200_000

export type HeldEntry = NonNullable<ListingMemory['heldBack']>[number]

type PolicyContext = Pick<Context, 'objects' | 'apiGroup' | 'clock' | 'installation'>

/** One for each version, whatever its platforms. */
export function refusedVersions(context: PolicyContext, parent: StoredObject): HeldEntry[] {
  const depot = depotOf(context, parent)
  const signatureOwner = depot && signatureOwnerOf(context, depot)
  const entries = new Map<string, HeldEntry>()
  for (const child of ownedBy(context, parent)) {
    const { version } = child.spec as Version['spec']
    const refusal =
      parent.kind === 'Provider' ? signerRefusalOf(child, signatureOwner) : breakRefusalOf(child)
    if (refusal !== undefined && !entries.has(version))
      entries.set(version, { version, ...refusal })
  }
  const newestFirst = (a: HeldEntry, b: HeldEntry) =>
    b.version.localeCompare(a.version, 'en', { numeric: true })
  return [...entries.values()].toSorted(newestFirst)
}

/**
 * The memory of the lists of upstream, with the versions that are refused now. A rule of the installation also refuses
 * those of Providers that no Depot made.
 *
 * @param address host and path of the source
 */
export function withRefusedVersions(
  context: PolicyContext,
  parent: StoredObject,
  before: ListingMemory | undefined,
  address: string,
): ListingMemory | undefined {
  const depot = parent.metadata.labels[depotLabel(context.apiGroup)]
  const refused = refusedVersions(context, parent)
  if (depot === undefined) {
    return refused.length === 0 ? undefined : { address, ...fitting(refused) }
  }
  const known = before?.heldBack ?? []
  const again = new Set(refused.map(({ version }) => version))
  // An older definition of Providers drops the field.
  const others = known.filter(
    (one) => one.signedBy === undefined && one.why !== 'Breaking' && !again.has(one.version),
  )
  if (refused.length === 0 && others.length === known.length) return before
  const { namespace } = parent.metadata
  const memory = before ?? { address, depot: keyOf({ namespace, name: depot }) }
  const unlisted = Math.max(0, (before?.heldBackCount ?? 0) - known.length)
  const { heldBack: _held, heldBackCount: _count, ...rest } = memory
  const all = [...others, ...refused]
  if (all.length === 0 && rest.seen === undefined) return undefined
  return { ...rest, ...fitting(all, unlisted) }
}

/**
 * As many as a status can hold: first those that come in next, last those that people do not wait for.
 *
 * @param unlisted how many more there are
 */
export function fitting(
  held: readonly HeldEntry[],
  unlisted = 0,
): Pick<ListingMemory, 'heldBack' | 'heldBackCount'> {
  if (held.length === 0) return {}
  const kept = cut(held)
  const total = held.length + unlisted
  if (kept.length === total) return { heldBack: kept }
  const rank = (one: HeldEntry) => `${heldWhys.indexOf(whyHeld(one))} ${one.until ?? ''}`
  const sorted = held.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return { heldBack: cut(sorted), heldBackCount: total }
}

function cut(held: readonly HeldEntry[]): HeldEntry[] {
  let left = maxHeldBytes
  return held.slice(0, maxHeldBack).filter((one) => {
    left -= Buffer.byteLength(JSON.stringify(one))
    return left >= 0
  })
}

type RefusedEntry = Omit<NonNullable<ListingMemory['heldBack']>[number], 'version'>

/** The refusal of a Version that breaks callers; undefined if it is stored or does not. */
function breakRefusalOf({ status }: Pick<StoredObject, 'status'>): RefusedEntry | undefined {
  const { conditions, artifact, compared } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  const isRefused = ready?.status === 'False' && ready.reason === 'BreakingChange'
  if (!isRefused || artifact?.fileName !== undefined || compared === undefined) return undefined
  const { from, reasons = [] } = compared
  const message = `it breaks callers of ${from}: ${reasons.join(' ')}`.replace(/\.$/, '')
  return { since: ready.lastTransitionTime, why: 'Breaking', message }
}

/**
 * The refusal of a Version for its signer; undefined if there is none.
 *
 * @param signatureOwner whose policy asks for signatures, if any does
 */
function signerRefusalOf(
  { status }: Pick<StoredObject, 'status'>,
  signatureOwner?: PolicyOwner,
): RefusedEntry | undefined {
  const { conditions, artifact } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  if (ready?.status !== 'False') return undefined
  // What is stored stays.
  const isUnsigned = ready.reason === 'Unsigned' && artifact?.fileName === undefined
  if (isUnsigned && signatureOwner !== undefined) {
    return {
      since: ready.lastTransitionTime,
      why: 'Unsigned',
      message: 'it has no signature, which requireSignature asks for',
      signedBy: '',
      ...(signatureOwner === 'Installation' && { by: 'Installation' }),
    }
  }
  if (ready.reason !== 'RuleRefused') return undefined
  const [, message = ready.message, whose, by = ''] =
    /^(.*) \(policy of (its Depot|the whole installation); it has (.*)\)$/s.exec(ready.message) ??
    []
  return {
    since: ready.lastTransitionTime,
    why: 'Refused',
    message: `${message} (it has ${by})`,
    signedBy: /^a signature by (.*)$/.exec(by)?.[1] ?? '',
    ...(whose === 'the whole installation' && { by: 'Installation' }),
  }
}
