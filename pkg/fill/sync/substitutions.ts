import { ListingMemory } from '../../api/v1alpha1/v1alpha1.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { msOf } from './context.ts'
import { versionStatus } from './version/work.ts'

const recentMs = 3_600_000
const kinds = ['Module', 'Provider'] as const

/** Without the list, which can be long. */
const Evidence = ListingMemory.pick({ address: true, replaced: true })

/**
 * Counts the other content of the last hour under versions that are stored or wait, as statuses keep it. A process that ends
 * before it counts, or before anybody reads its counter, loses nothing of it.
 */
export function recentSubstitutions(objects: Objects, nowMs: number): ReadonlyMap<string, number> {
  const isRecent = ({ at }: { readonly at: string }) => Math.abs(nowMs - (msOf(at) ?? 0)) < recentMs
  const counts = new Map<string, number>()
  for (const kind of kinds) {
    const waiting = objects.list(kind).flatMap(replacedIn)
    counts.set(kind, waiting.filter(isRecent).length)
  }
  for (const version of objects.list('Version')) {
    const { substitutions = [] } = versionStatus(version)
    const { type } = version.spec as { type: string }
    counts.set(type, (counts.get(type) ?? 0) + substitutions.filter(isRecent).length)
  }
  return counts
}

function replacedIn({ status }: StoredObject): readonly { readonly at: string }[] {
  const { listing } = (status ?? {}) as { listing?: unknown }
  return Evidence.safeParse(listing).data?.replaced ?? []
}
