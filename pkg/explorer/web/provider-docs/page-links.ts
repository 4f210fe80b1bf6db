import type { ProviderPage } from '../api/records.ts'
import { safeHref } from '../resource/safe-href.ts'
import { type DocsValues, docsHref, type PageAddress } from '../url/pages.ts'

/** Folders of `website/docs`, and their names in `docs`. */
const longNames: Readonly<Record<string, string>> = { r: 'resources', d: 'data-sources' }

/** The path of a page below `docs`, without its ending, in any layout. */
function stemOf(path: string): string {
  const stem = path
    .replace(/^(?:website\/)?docs\//, '')
    .replace(/(?:\.html)?(?:\.(?:md|markdown))?$/, '')
  return stem.replace(/^([rd])(?=\/)/, (short) => longNames[short] ?? short)
}

/** Links of a page. Links to other pages lead to them here, all others stay unchanged. */
export function linksFrom(
  from: ProviderPage,
  pages: readonly ProviderPage[],
  address: PageAddress,
  values: Partial<DocsValues>,
): (url: string) => string | undefined {
  const known = new Map(pages.map((page) => [stemOf(page.path), page]))
  return (url) => {
    const outside = safeHref(url)
    if (outside !== undefined) return outside
    const base = `http://docs/${from.path}`
    const target = URL.parse(url, base)
    if (target === null || target.host !== 'docs') return undefined
    const path = target.pathname.slice(1).replace(/^docs\/providers\/[\w-]+\//, 'docs/')
    const page = known.get(stemOf(path))
    if (page === undefined) return undefined
    const hash = target.hash.slice(1)
    return docsHref(address, page, values) + (hash === '' ? '' : `#readme-${hash}`)
  }
}
