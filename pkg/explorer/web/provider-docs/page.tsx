import { useEffect, useMemo } from 'preact/hooks'
import type {
  ProviderPage,
  ProviderPages,
  ProviderPageText,
  ResourceDetail,
} from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Crumb } from '../parts/crumb.tsx'
import { sentence } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Note } from '../parts/message.tsx'
import { Region } from '../parts/region.tsx'
import { Toc } from '../resource/aside.tsx'
import { ProviderTabs } from '../resource/provider-tabs.tsx'
import { drawMarkdown } from '../resource/readme/drawing.tsx'
import { safeHref } from '../resource/safe-href.ts'
import { chosenVersion, VersionPick } from '../resource/version-pick.tsx'
import { useTitle } from '../shell/page-head.tsx'
import { navigate } from '../url/navigate.ts'
import {
  type DocsPlace,
  type DocsValues,
  detailUrl,
  docsHref,
  docsParams,
  type PageAddress,
  pagesUrl,
  resourceHref,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { kindOfPage, Tree } from './tree.tsx'

interface Props {
  readonly address: PageAddress
  readonly search: URLSearchParams
  readonly place: DocsPlace
}

interface Shown extends Omit<Props, 'search'> {
  readonly values: DocsValues
}

/** The documentation of a provider: a tree of its pages, and one of them. */
export function ProviderDocsPage({ address, search, place }: Props) {
  const values = parse(docsParams, search)
  const query = useQuery<ResourceDetail>(detailUrl(address, values.version))
  const pages = useQuery<ProviderPages>(pagesUrl(address, values.version))
  const shown = { address, place, values }
  return (
    <>
      <Crumb namespace={address.namespace}>
        <a href={resourceHref(address, { version: values.version })}>{address.name}</a>
      </Crumb>
      <div class="page-head docs-head">
        <div class="title">
          <Icon name="provider" tone="quiet" />
          <h1 tabIndex={-1}>{address.name}</h1>
          <span class="tag">Provider</span>
        </div>
        {query.data !== undefined && (
          <div class="end">
            <VersionPick
              detail={query.data}
              version={chosenVersion(query.data, values.version)}
              onChoose={(version) => navigate(docsHref(address, place, { ...values, version }))}
            />
          </div>
        )}
      </div>
      <ProviderTabs
        address={address}
        version={values.version}
        current="docs"
        pages={pages.data?.pages.length}
      />
      {pages.error?.status === 404 ? (
        <NoPages message={pages.error.message} upstream={query.data?.upstreamDocsUrl} />
      ) : (
        <Region query={pages} what="The documentation" skeleton={14}>
          {(list) => <Documentation {...shown} list={list} latest={query.data?.latestVersion} />}
        </Region>
      )}
    </>
  )
}

function NoPages({ message, upstream }: { message: string; upstream: string | undefined }) {
  if (upstream === undefined) {
    return (
      <Note tone="warn" icon="warn" role="alert">
        {sentence(message)}
      </Note>
    )
  }
  return (
    <Note icon="out">
      Its documentation is in the registry that it comes from:{' '}
      <a href={upstream} rel="noopener noreferrer">
        {new URL(upstream).host}
      </a>
      .
    </Note>
  )
}

interface ListedProps extends Shown {
  readonly list: ProviderPages
  readonly latest: string | undefined
}

function Documentation({ address, place, values, list, latest }: ListedProps) {
  const { pages } = list
  const isChosen = ({ category, slug }: DocsPlace) =>
    category === place.category && slug === place.slug
  const start = pages.find(({ category }) => category === 'overview') ?? pages[0]
  const page = place.slug === '' ? start : pages.find(isChosen)
  useTitle(page?.title ?? place.slug, address.name, address.namespace)
  return (
    <div class="docs-page">
      <Tree
        address={address}
        list={list}
        current={page}
        values={values}
        onFilter={(q) => navigate(docsHref(address, place, { ...values, q }), 'replace')}
      />
      {page === undefined ? (
        <Absent address={address} place={place} version={list.version} latest={latest} />
      ) : (
        <Text key={page.path} address={address} values={values} page={page} list={list} />
      )}
    </div>
  )
}

interface AbsentProps extends Omit<Shown, 'values'> {
  readonly version: string
  readonly latest: string | undefined
}

/** The shown version may lack a page that another one has. */
function Absent({ address, place, version, latest }: AbsentProps) {
  return (
    <Note tone="warn" icon="warn">
      <b class="mono">{place.slug || 'A page'}</b> is not in {version}.{' '}
      {place.slug !== '' && latest !== version && (
        <a href={docsHref(address, place)}>Look for it in the latest version</a>
      )}
    </Note>
  )
}

interface TextProps {
  readonly address: PageAddress
  readonly values: DocsValues
  readonly page: ProviderPage
  readonly list: ProviderPages
}

function Text(props: TextProps) {
  const { address, page, list } = props
  // The list may be that of the previous version until the other arrives.
  const query = useQuery<ProviderPageText>(pagesUrl(address, list.version, page))
  return (
    <Region query={query} what={page.title} skeleton={14}>
      {({ markdown }) => <Drawn {...props} markdown={markdown} />}
    </Region>
  )
}

function Drawn({
  address,
  values,
  page,
  list: { pages },
  markdown,
}: TextProps & { readonly markdown: string }) {
  const { version, q } = values
  const { content, headings } = useMemo(
    () =>
      drawMarkdown(markdown, {
        hasCallouts: true,
        of: 'page',
        hrefOf: linksFrom(page, pages, address, { version, q }),
      }),
    [markdown, page, pages, version, q],
  )
  useEffect(() => {
    if (location.hash !== '') document.getElementById(location.hash.slice(1))?.scrollIntoView()
  }, [markdown])
  return (
    <div class="doc-columns">
      <article class="doc-page prose" aria-labelledby="page-title">
        <h2 id="page-title" class="kicker">
          <span class="vh">{page.title}: </span>
          {kindOfPage(page)}
        </h2>
        {content}
      </article>
      {headings.length > 1 && <Toc sections={headings} look="toc doc-toc" />}
    </div>
  )
}

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
function linksFrom(
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
