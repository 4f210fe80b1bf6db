import { type DownloadTable, mostDownloadedOf } from './downloads.ts'
import type { Listed } from './listed.ts'
import { compareAddress } from './orders.ts'
import { newestFirst } from './semver-order.ts'

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
