/** The versions of earlier lists of an upstream, as the status of a Module or Provider remembers them. */

import { ListingMemory, normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { SeenVersion } from '../../policy/policy.ts'
import { msOf, timeOf } from '../timings.ts'
import type { ParentStatus } from './report.ts'

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
