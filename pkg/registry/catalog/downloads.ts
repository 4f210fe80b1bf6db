import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { CountedDownload } from '../downloads/downloads.ts'
import type { Listed } from './listed.ts'
import { NamedRows } from './named-rows.ts'
import { compareAddress } from './orders.ts'
import type { Parent } from './parent.ts'
import { compareText, newestFirst } from './semver-order.ts'
import { lowerBound } from './version-chunk.ts'

interface Downloads {
  readonly count: number
  readonly lastAt: number
}

/** The counts of one resource; deleted archives stay in its sum. */
export interface ResourceDownloads extends Downloads {
  /** The count of each archive of a version, by {@link platformOf}. */
  ofVersion(version: string): ReadonlyMap<string, Downloads> | undefined
  /** Versions, the most downloaded first, all their platforms together, whether or not they still exist. */
  readonly ranking: readonly Ranked[]
  /** The count of one archive. */
  of(archive: Archive): Downloads | undefined
}

interface Ranked {
  readonly version: string
  readonly count: number
}

type Archive = Pick<CountedDownload, 'version' | 'os' | 'arch'>

class Tally implements ResourceDownloads {
  count = 0
  lastAt = 0
  readonly #byVersion = new Map<string, Map<string, Downloads>>()
  readonly #ranking = new Ranking()

  get ranking(): readonly Ranked[] {
    return this.#ranking.sorted
  }

  ofVersion(version: string): ReadonlyMap<string, Downloads> | undefined {
    return this.#byVersion.get(version)
  }

  of(archive: Archive): Downloads | undefined {
    return this.#byVersion.get(archive.version)?.get(platformOf(archive))
  }

  put(whole: CountedDownload): void {
    const { version, count, lastAt } = whole
    const platform = platformOf(whole)
    const platforms = this.#byVersion.get(version) ?? new Map<string, Downloads>()
    this.#byVersion.set(version, platforms)
    const more = count - (platforms.get(platform)?.count ?? 0)
    this.count += more
    this.#ranking.add(version, more)
    this.lastAt = Math.max(this.lastAt, lastAt)
    platforms.set(platform, { count, lastAt })
  }
}

/** Changes that are worked in one by one; more are sorted with all others. */
const fewChanges = 100

const mostFirst = (a: Ranked, b: Ranked): number =>
  b.count - a.count || compareText(a.version, b.version)

/** Versions by their downloads. Sorted when they are asked for, and no more than what changed. */
class Ranking {
  readonly #counts = new Map<string, number>()
  /** Counts at the last sorting of those that changed since; undefined: none changed. */
  readonly #changed = new Map<string, number | undefined>()
  #sorted: Ranked[] = []

  add(version: string, more: number): void {
    const count = this.#counts.get(version)
    if (!this.#changed.has(version)) this.#changed.set(version, count)
    this.#counts.set(version, (count ?? 0) + more)
  }

  get sorted(): readonly Ranked[] {
    if (this.#changed.size > fewChanges) {
      const all = Array.from(this.#counts, ([version, count]) => ({ version, count }))
      this.#sorted = all.toSorted(mostFirst)
    } else for (const [version, before] of this.#changed) this.#move(version, before)
    this.#changed.clear()
    return this.#sorted
  }

  #move(version: string, before: number | undefined): void {
    if (before !== undefined) this.#sorted.splice(this.#indexOf({ version, count: before }), 1)
    const one = { version, count: this.#counts.get(version) ?? 0 }
    this.#sorted.splice(this.#indexOf(one), 0, one)
  }

  #indexOf(wanted: Ranked): number {
    return lowerBound(this.#sorted, (one) => mostFirst(one, wanted) < 0)
  }
}

/**
 * The versions of a parent with the most downloads of archives that it still has, most first. Of those with as many as the
 * last one, all.
 */
function mostDownloadedOf(
  parent: Parent,
  known: ResourceDownloads | undefined,
  limit: number,
): (Downloads & { readonly version: string })[] {
  const found: (Downloads & { readonly version: string })[] = []
  for (const { version, count: most } of known?.ranking ?? []) {
    if (most < (found.at(limit - 1)?.count ?? 1)) break
    const one = downloadsOfVersion(parent, version, known?.ofVersion(version))
    if (one.count === 0) continue
    found.splice(
      lowerBound(found, ({ count }) => count >= one.count),
      0,
      { version, ...one },
    )
  }
  return found
}

/** Downloads of one version, all its platforms together. */
export interface MostDownloaded {
  readonly entry: Listed
  readonly version: string
  readonly count: number
  /** In milliseconds since 1970. */
  readonly lastAt: number
}

/**
 * The most downloaded versions of some entries, most first; ties by namespace, kind, name, then newest first.
 *
 * @param best the `limit` entries with the most downloaded versions: others cannot have one among the first
 */
export function mostDownloaded(
  best: readonly Listed[],
  limit: number,
  downloads: DownloadTable,
): MostDownloaded[] {
  return best
    .flatMap((entry) => {
      const { kind, namespace, name } = entry.parent
      const known = downloads.of(kind, namespace, name)
      return mostDownloadedOf(entry.parent, known, limit).map((found) => ({ entry, ...found }))
    })
    .toSorted(
      (a, b) =>
        b.count - a.count ||
        compareAddress(a.entry.summary, b.entry.summary) ||
        newestFirst(a.version, b.version),
    )
    .slice(0, limit)
}

/** The downloads of the version that has the most. Versions with as many as others are not looked at. */
export function bestDownloadsOf(parent: Parent, known: ResourceDownloads | undefined): number {
  let best = 0
  for (const { version, count: most } of known?.ranking ?? []) {
    if (most <= best) break
    best = Math.max(best, downloadsOfVersion(parent, version, known?.ofVersion(version)).count)
  }
  return best
}

/** Counts of archives that exist, each once. */
function downloadsOfVersion(
  parent: Parent,
  version: string,
  platforms: ReadonlyMap<string, Downloads> | undefined,
): Downloads {
  const counted = new Set<Downloads>()
  for (const { os, arch } of parent.rowsOf(version)) {
    const downloads = platforms?.get(platformOf({ os, arch }))
    if (downloads !== undefined && downloads.count > 0) counted.add(downloads)
  }
  let [count, lastAt] = [0, 0]
  for (const one of counted) {
    count += one.count
    lastAt = Math.max(lastAt, one.lastAt)
  }
  return { count, lastAt }
}

/** Download counts by resource and archive. They are kept whether or not the resource exists just now. */
export class DownloadTable {
  readonly #tallies = { Module: new NamedRows<Tally>(), Provider: new NamedRows<Tally>() }

  of(kind: ParentKind, namespace: string, name: string): ResourceDownloads | undefined {
    return this.#tallies[kind].get(namespace, name)
  }

  /** Replaces what is known. */
  set(whole: CountedDownload): void {
    const { kind, namespace, name } = whole
    this.#tallies[kind].getOrSet(namespace, name, () => new Tally()).put(whole)
  }
}

function platformOf({ os = '', arch = '' }: Pick<CountedDownload, 'os' | 'arch'>): string {
  return `${os}/${arch}`
}
