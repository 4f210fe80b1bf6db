import { useEffect, useMemo } from 'preact/hooks'
import type {
  ProviderPage,
  ProviderPages,
  ProviderPageText,
  ResourceDetail,
} from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Crumb } from '../parts/crumb.tsx'
import { number, sentence } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { Lines } from '../parts/skeleton.tsx'
import { chosenVersion } from '../resource/chosen-version.ts'
import { drawMarkdown } from '../resource/readme/drawing.tsx'
import { useTitle } from '../shell/title.ts'
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
import { linksFrom } from './page-links.ts'
import { kindOfPage } from './tree.ts'
import { Tree } from './tree.tsx'

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
        {query.data !== undefined && <Versions {...shown} detail={query.data} />}
      </div>
      <nav class="tabs links" aria-label="Of this version">
        <ul>
          <li>
            <a href={resourceHref(address, { version: values.version })}>Overview</a>
          </li>
          <li>
            <a href={docsHref(address, first, { version: values.version })} aria-current="page">
              Docs
              {pages.data !== undefined && (
                <span class="quiet num">{number(pages.data.pages.length)}</span>
              )}
            </a>
          </li>
        </ul>
      </nav>
      {pages.error?.status === 404 ? (
        <NoPages message={pages.error.message} upstream={query.data?.upstreamDocsUrl} />
      ) : (
        <Region query={pages} what="The documentation" skeleton={<Lines count={14} />}>
          {(list) => <Documentation {...shown} list={list} latest={query.data?.latestVersion} />}
        </Region>
      )}
    </>
  )
}

const first = { category: '', slug: '' }

/** Chooses the version: the page stays. */
function Versions({ address, place, values, detail }: Shown & { readonly detail: ResourceDetail }) {
  const { shown, isLatest } = chosenVersion(detail, values.version)
  const others = detail.versions.filter(({ version }) => version !== detail.latestVersion)
  return (
    <div class="end">
      <Pick
        label="Version"
        names
        value={isLatest ? '' : (shown ?? '')}
        options={[
          ['', `${detail.latestVersion}, latest`],
          ...others.map(({ version }) => [version, version] as const),
        ]}
        onChoose={(version) => navigate(docsHref(address, place, { ...values, version }))}
      />
    </div>
  )
}

function NoPages({
  message,
  upstream,
}: {
  readonly message: string
  readonly upstream?: string | undefined
}) {
  if (upstream === undefined) {
    return (
      <div class="note warn" role="alert">
        <Icon name="warn" />
        <p>{sentence(message)}</p>
      </div>
    )
  }
  return (
    <div class="note" role="status">
      <Icon name="out" />
      <p>
        Its documentation is in the registry that it comes from:{' '}
        <a href={upstream} rel="noopener noreferrer">
          {new URL(upstream).host}
        </a>
        .
      </p>
    </div>
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

/** The version that is shown may lack a page that another one has. */
function Absent({ address, place, version, latest }: AbsentProps) {
  return (
    <div class="note warn" role="status">
      <Icon name="warn" />
      <p>
        <b class="mono">{place.slug || 'A page'}</b> is not in {version}.{' '}
        {place.slug !== '' && latest !== version && (
          <a href={docsHref(address, place)}>Look for it in the latest version</a>
        )}
      </p>
    </div>
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
    <Region query={query} what={page.title} skeleton={<Lines count={14} />}>
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
      {headings.length > 1 && (
        <nav class="toc doc-toc" aria-label="On this page">
          <h2>On this page</h2>
          <ul>
            {headings.map(({ id, words }) => (
              <li key={id}>
                <a href={`#${id}`}>{words}</a>
              </li>
            ))}
          </ul>
        </nav>
      )}
    </div>
  )
}
