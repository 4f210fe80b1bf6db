import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { CountedDownload } from '../downloads/downloads.ts'
import { lowerBound, NamedRows } from './collections.ts'
import type { Parent } from './parent.ts'

interface Downloads {
  readonly count: number
  readonly lastAt: number
}

/** The counts of one resource. Its sum includes deleted archives. */
export interface ResourceDownloads extends Downloads {
  /** The count of each archive of a version, by {@link platformOf}. */
  ofVersion(version: string): ReadonlyMap<string, Downloads> | undefined
  /** The sum over the platforms of each version, including deleted versions. */
  readonly totals: ReadonlyMap<string, number>
  /** The count of one archive. */
  of(archive: Archive): Downloads | undefined
}

type Archive = Pick<CountedDownload, 'version' | 'os' | 'arch'>

class Tally implements ResourceDownloads {
  count = 0
  lastAt = 0
  readonly totals = new Map<string, number>()
  readonly #byVersion = new Map<string, Map<string, Downloads>>()

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
    this.totals.set(version, (this.totals.get(version) ?? 0) + more)
    this.lastAt = Math.max(this.lastAt, lastAt)
    platforms.set(platform, { count, lastAt })
  }
}

/** The most downloaded versions of a parent, most first. Only existing archives count. Includes all that tie with the last. */
export function mostDownloadedOf(
  parent: Parent,
  known: ResourceDownloads | undefined,
  limit: number,
): (Downloads & { readonly version: string })[] {
  const found: (Downloads & { readonly version: string })[] = []
  const totals = [...(known?.totals ?? [])].toSorted(([, a], [, b]) => b - a)
  for (const [version, most] of totals) {
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

/** The downloads of the most downloaded version. Ties are not read. */
export function bestDownloadsOf(parent: Parent, known: ResourceDownloads | undefined): number {
  let best = 0
  for (const [version, most] of known?.totals ?? []) {
    if (most <= best) continue
    best = Math.max(best, downloadsOfVersion(parent, version, known?.ofVersion(version)).count)
  }
  return best
}

/** Counts of existing archives, each once. */
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

/** Download counts by resource and archive. They are kept even if the resource does not exist. */
export class DownloadTable {
  readonly #tallies = { Module: new NamedRows<Tally>(), Provider: new NamedRows<Tally>() }

  of(kind: ParentKind, namespace: string, name: string): ResourceDownloads | undefined {
    return this.#tallies[kind].get(namespace, name)
  }

  /** Replaces all counts. */
  set(whole: CountedDownload): void {
    const { kind, namespace, name } = whole
    this.#tallies[kind].getOrSet(namespace, name, () => new Tally()).put(whole)
  }
}

function platformOf({ os = '', arch = '' }: Pick<CountedDownload, 'os' | 'arch'>): string {
  return `${os}/${arch}`
}
