import { boot } from '../api/boot.ts'
import type { SearchResults } from '../api/records.ts'
import { timeAgo } from '../parts/format.ts'
import { kindIcon } from '../parts/icon.tsx'
import type { Match } from '../parts/matches.ts'
import {
  accessHref,
  conflictsHref,
  depotsHref,
  resourceHref,
  resourcesHref,
  statsHref,
} from '../url/pages.ts'
import { loginHref } from './session.ts'
import { homeHref } from './sidebar.tsx'
import { visits } from './visits.ts'

export interface Hit {
  readonly href: string
  readonly icon: string
  readonly words: string
  readonly note: string
  readonly isAddress?: boolean
  readonly outOfSync?: boolean
  /** Matches of a found resource. */
  readonly matched?: readonly Match[]
}

export type FoundResource = SearchResults['items'][number]

export interface Group {
  readonly label: string
  readonly hits: readonly Hit[]
}

const matches = (words: string, typed: string): boolean =>
  words.toLowerCase().includes(typed.toLowerCase())

interface Asked {
  readonly typed: string
  readonly found: readonly FoundResource[]
  /** True if the search found nothing or failed, so that people can go on. */
  readonly allPages: boolean
}

/** Suggestions of the palette: found resources, recent visits, and pages. */
export function hitsFor({ typed, found, allPages }: Asked): Group[] {
  const groups = [
    { label: 'Modules and providers', hits: found.map(resourceHit) },
    { label: 'Visited', hits: visitHits(typed) },
    { label: 'Pages', hits: pageHits(typed, allPages) },
  ]
  return groups.filter(({ hits }) => hits.length > 0)
}

const resourceHit = (item: FoundResource): Hit => ({
  href: resourceHref(item),
  icon: kindIcon(item.kind),
  words: `${item.namespace}/${item.name}`,
  note: item.latestVersion ?? '',
  isAddress: true,
  outOfSync: item.hasUnsyncedVersions === true,
  matched: item.matched,
})

const visitHits = (typed: string): Hit[] =>
  visits()
    .map(({ version, at, ...address }) => ({
      href: resourceHref(address, version === undefined ? {} : { version }),
      icon: kindIcon(address.kind),
      words: `${address.namespace}/${address.name}${version === undefined ? '' : `, version ${version}`}`,
      note: timeAgo(at, Date.now()),
      isAddress: true,
    }))
    .filter(({ words }) => matches(words, typed))

function pageHits(typed: string, allPages: boolean): Hit[] {
  const pages: readonly (readonly [words: string, icon: string, href: string])[] = [
    ['Registry', 'registry', homeHref()],
    ['Depots', 'depot', depotsHref()],
    ['Stats', 'stats', statsHref()],
    ['Conflicts', 'clash', conflictsHref()],
    ['Access', 'key', accessHref()],
    ...(boot.oidc && !boot.signedIn ? [['Sign in', 'user', loginHref()] as const] : []),
  ]
  const hits = pages
    .filter(([words]) => allPages || matches(words, typed))
    .map(([words, icon, href]) => ({ href, icon, words, note: '' }))
  if (typed === '' || allPages) return hits
  const all = `All results for “${typed}” in the registry`
  return [{ href: resourcesHref({ q: typed }), icon: 'search', words: all, note: '' }, ...hits]
}
