import type { VersionItem } from '../../api/records.ts'

export interface VersionDownloads {
  readonly version: string
  readonly count: number
}

const most = 10

/** The versions with the most downloads, newest first, like the rows. */
export function downloadsByVersion(
  rows: readonly Pick<VersionItem, 'version' | 'downloadCount'>[],
): VersionDownloads[] {
  const counts = new Map<string, number>()
  for (const { version, downloadCount = 0 } of rows) {
    counts.set(version, (counts.get(version) ?? 0) + downloadCount)
  }
  const all = [...counts].map(([version, count]) => ({ version, count }))
  const used = all.filter(({ count }) => count > 0)
  const shown = new Set(used.toSorted((a, b) => b.count - a.count).slice(0, most))
  return used.filter((it) => shown.has(it))
}
