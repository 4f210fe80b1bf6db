import { boot } from '../api/boot.ts'
import type { ResourceDetail, SearchResults } from '../api/records.ts'
import { timeAgo } from '../parts/format.ts'
import { kindIcon } from '../parts/icon.tsx'
import type { SearchMatch } from '../parts/marked.tsx'
import { compareHref, type Folder, resourceHref, resourcesHref } from '../url/pages.ts'
import { behind, exactly, newerThan, withVersion } from './pasted.ts'
import { conflicts, heldBack, places } from './places.ts'
import { loginHref } from './session.ts'
import { visits } from './visits.ts'

export interface Hit {
  /** Empty for a text to copy. */
  readonly href: string
  /** The text to copy. */
  readonly copies?: string
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
  /** As in the block. */
  readonly version: string | undefined
  readonly folder: Folder | undefined
  /** The block with its lines; undefined if the text was typed. */
  readonly block: string | undefined
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
  /** Whether the search found nothing or failed, so that people can go on. */
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

/** Listed versions after the pasted one. The page lists all. */
const mostNewer = 5

function pastedHits({ item, version, folder, block, detail }: PastedResource): Hit[] {
  const { latestVersion: latest, hasDocs } = detail ?? {}
  const said = version && detail ? behind(version, detail) : undefined
  const page = {
    ...resourceHit(item),
    href: resourceHref({ ...item, folder }),
    words: `${item.namespace}/${item.address}${folder === undefined ? '' : `, ${folder.name}`}`,
    matched: [],
    said,
  }
  const exact = version && exactly(version)
  const newer = exact && detail && newerThan(exact, detail)
  if (!newer || !exact || latest === undefined || exact === latest) return [page]
  const hit = (icon: string, words: string, href: string): Hit => ({ href, icon, words, note: '' })
  const compared = compareHref(item, { from: exact, to: latest })
  const copies = block && withVersion(block, latest)
  const between = newer.filter((one) => one !== latest).slice(0, mostNewer)
  return [
    page,
    ...(hasDocs ? [hit('compare', `Compare ${exact} with ${latest}`, compared)] : []),
    ...(copies ? [{ ...hit('copy', `Copy the block with ${latest}`, ''), copies }] : []),
    ...[...between, exact].map((one) =>
      hit(kindIcon(item.kind), `Open ${one}`, resourceHref({ ...item, folder }, { version: one })),
    ),
  ]
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
  const own = places()
  const pages = [
    ...own.slice(0, -1),
    heldBack,
    conflicts,
    ...own.slice(-1),
    ...(boot.oidc && !boot.signedIn ? [{ words: 'Sign in', icon: 'user', href: loginHref() }] : []),
  ]
  const hits = pages
    .filter(({ words }) => allPages || matches(words, typed))
    .map(({ words, icon, href }) => ({ href, icon, words, note: '' }))
  if (typed === '' || allPages) return hits
  const all = `All results for “${typed}” in the registry`
  return [{ href: resourcesHref({ q: typed }), icon: 'search', words: all, note: '' }, ...hits]
}
