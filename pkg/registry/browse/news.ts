import { lifecycleWords, mildest } from '../../api/lifecycle/lifecycle.ts'
import { type Catalog, distinctFindings, type Listed, type VersionRow } from '../catalog/catalog.ts'

/** An event of a version of a module or provider. */
export interface News {
  readonly entry: Listed
  readonly version: string
  readonly what: 'Published' | 'Deprecated' | 'Yanked' | 'Quarantined' | 'CriticalFindings'
  /** In seconds since 1970. */
  readonly at: number
  /** Sentences for people; may be empty. */
  readonly text: string
}

type VersionNews = Omit<News, 'entry'>

/** A feed of more entries would be a catalog. */
const maxNews = 100
const maxFindings = 20

/** Returns the last news of some modules and providers, newest first. @param entries those with the newest news first */
export function latestNews(catalog: Catalog, entries: Iterable<Listed>): News[] {
  const news: News[] = []
  let oldest = Number.NEGATIVE_INFINITY
  for (const entry of entries) {
    if (entry.summary.newsAt <= oldest) break
    for (const one of newsOf(catalog, entry)) {
      if (one.at <= oldest) break
      news.push({ entry, ...one })
    }
    // Sorting from time to time keeps the list short, and tells when to stop.
    if (news.length > 2 * maxNews) oldest = cut(news)
  }
  cut(news)
  return news
}

/** Keeps the newest. @returns the time of the last one that is kept */
function cut(news: News[]): number {
  news.sort((a, b) => b.at - a.at)
  news.length = Math.min(news.length, maxNews)
  return news.length < maxNews ? Number.NEGATIVE_INFINITY : (news.at(-1)?.at ?? 0)
}

/** Returns the news of one module or provider, newest first. */
function newsOf(catalog: Catalog, { parent }: Listed): readonly VersionNews[] {
  return parent.memo('news', () => {
    const versions = Map.groupBy(
      parent.versions.filter((row) => !row.isDuplicate),
      (row) => row.version,
    )
    return [...versions]
      .flatMap(([version, rows]) => newsOfVersion(catalog, version, rows))
      .toSorted((a, b) => b.at - a.at)
      .slice(0, maxNews)
  })
}

function newsOfVersion(
  { findings }: Catalog,
  version: string,
  rows: readonly VersionRow[],
): VersionNews[] {
  const news: VersionNews[] = []
  const lifecycle = mildest(rows)
  if (lifecycle !== undefined) {
    const at = Math.max(...rows.map((row) => row.lifecycleSince))
    news.push({ version, what: lifecycle.state, at, text: lifecycleWords(lifecycle) })
  }
  const critical = rows.filter((row) => row.criticalSince > 0)
  if (critical.length > 0) {
    const lists = critical.flatMap((row) => [row.sourceFindings, row.binaryFindings])
    const found = distinctFindings(findings, lists).filter(
      ({ severity }) => severity.toUpperCase() === 'CRITICAL',
    )
    const named = found
      .slice(0, maxFindings)
      .map((one) => `${one.vulnerabilityID} in ${one.pkgName} ${one.installedVersion}`.trim())
    const more = found.length - named.length
    const text = [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ')
    const at = Math.max(...critical.map((row) => row.criticalSince))
    news.push({ version, what: 'CriticalFindings', at, text })
  }
  const times = rows.filter((row) => row.downloadable).map((row) => row.publishedAt)
  if (times.length > 0) {
    news.push({ version, what: 'Published', at: Math.min(...times), text: '' })
  }
  return news
}
