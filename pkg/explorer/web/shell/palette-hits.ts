import { boot } from '../api/boot.ts'
import type { ResourceDetail, SearchResults } from '../api/records.ts'
import { timeAgo } from '../parts/format.ts'
import { kindIcon } from '../parts/icon.tsx'
import type { SearchMatch } from '../parts/matches.ts'
import {
  accessHref,
  compareHref,
  conflictsHref,
  depotsHref,
  type Folder,
  heldBackHref,
  publishHref,
  resourceHref,
  resourcesHref,
  statsHref,
} from '../url/pages.ts'
import { behind } from './pasted.ts'
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
  readonly matched?: readonly SearchMatch[]
  /** A sentence below the words. */
  readonly said?: string | undefined
}

export type FoundResource = SearchResults['items'][number]

/** A found resource that a pasted block or source names. */
interface PastedResource {
  readonly item: FoundResource
  /** As the block has it. */
  readonly version: string | undefined
  readonly folder: Folder | undefined
  /** Undefined until it is loaded. */
  readonly detail: ResourceDetail | undefined
}

export interface Group {
  readonly label: string
  readonly hits: readonly Hit[]
}

const matches = (words: string, typed: string): boolean =>
  words.toLowerCase().includes(typed.toLowerCase())

interface Asked {
  readonly typed: string
  readonly found: readonly FoundResource[]
  readonly pasted: PastedResource | undefined
  /** True if the search found nothing or failed, so that people can go on. */
  readonly allPages: boolean
}

/** Suggestions of the palette: what was pasted, found resources, recent visits, and pages. */
export function hitsFor({ typed, found, pasted, allPages }: Asked): Group[] {
  const groups = [
    { label: 'From what you pasted', hits: pasted === undefined ? [] : pastedHits(pasted) },
    {
      label: 'Modules and providers',
      hits: found.filter((item) => item !== pasted?.item).map(resourceHit),
    },
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

function pastedHits({ item, version, folder, detail }: PastedResource): Hit[] {
  const { latestVersion: latest, versions = [], hasDocs } = detail ?? {}
  const said = version && detail ? behind(version, detail) : undefined
  const page = {
    ...resourceHit(item),
    href: resourceHref({ ...item, folder }),
    words: `${item.namespace}/${item.address}${folder === undefined ? '' : `, ${folder.name}`}`,
    matched: [],
    said,
  }
  const isOlder = version !== latest && versions.some((one) => one.version === version)
  if (version === undefined || latest === undefined || !isOlder) return [page]
  const compare = {
    href: compareHref(item, { from: version, to: latest }),
    icon: 'compare',
    words: `Compare ${version} with ${latest}`,
    note: '',
  }
  const open = {
    href: resourceHref({ ...item, folder }, { version }),
    icon: kindIcon(item.kind),
    words: `Open ${version}`,
    note: '',
  }
  return [page, ...(hasDocs ? [compare] : []), open]
}

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
    ['Publish', 'publish', publishHref()],
    ['Stats', 'stats', statsHref()],
    ['Held back', 'hold', heldBackHref()],
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
