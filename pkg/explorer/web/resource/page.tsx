import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ResourceDetail, VersionDocs } from '../api/records.ts'
import { type Query, refreshOld, useQuery } from '../api/use-query.ts'
import { Crumb } from '../parts/crumb.tsx'
import { Icon, kindIcon } from '../parts/icon.tsx'
import { Region } from '../parts/region.tsx'
import { Bone, Lines } from '../parts/skeleton.tsx'
import { useTitle } from '../shell/page-head.tsx'
import { rememberVisit } from '../shell/visits.ts'
import { navigate } from '../url/navigate.ts'
import { detailUrl, type PageAddress, resourceHref, resourceParams } from '../url/pages.ts'
import { decoded, parse } from '../url/search-params.ts'
import { Aside, Contents } from './aside.tsx'
import { DocsTabs, Missing } from './docs/docs-tabs.tsx'
import { FolderPart } from './docs/folder-part.tsx'
import { docsOfFolder } from './docs/inputs.ts'
import { shownTab, tabOfSection } from './docs/shown-tab.ts'
import { readmeOf, useDocs } from './docs/use-docs.ts'
import { DownloadsSection } from './downloads/downloads.tsx'
import { FindingsSection } from './findings/findings.tsx'
import { Header } from './header.tsx'
import { Overview } from './overview.tsx'
import { ProviderTabs } from './provider-tabs.tsx'
import { Readme, type ReadmeHeading } from './readme/readme.tsx'
import type { ResourceChange, SectionProps } from './section.ts'
import { Usage } from './usage.tsx'
import { VersionNote } from './version-note.tsx'
import { chosenVersion } from './version-pick.tsx'
import { VersionsSection } from './versions/versions.tsx'

/** A module or provider: README, facts, usage, versions and findings. */
export function ResourcePage(props: {
  readonly address: PageAddress
  readonly search: URLSearchParams
}) {
  const { address, search } = props
  const values = parse(resourceParams, search)
  const query = useQuery<ResourceDetail>(detailUrl(address, values.version))
  const { folder, ...module } = address
  useTitle(...(folder === undefined ? [] : [folder.name]), address.name, address.namespace)
  const change: ResourceChange = (changed, how) =>
    navigate(resourceHref(address, { ...values, ...changed }) + location.hash, how)
  const found = query.data !== undefined
  const version = values.version
  useEffect(() => {
    if (found) rememberVisit({ ...module, ...(version !== '' && { version }), at: Date.now() })
  }, [found, version])
  const section = query.data?.kind === 'module' && values.tab === '' && !folder
  useEffect(() => {
    const tab = section ? tabOfSection(location.hash.slice(1)) : ''
    if (tab !== '') change({ tab }, 'replace')
  }, [section])
  useScrollToHash(found)
  return (
    <>
      <Crumb namespace={address.namespace} />
      <Region query={query} what={address.name} skeleton={<Skeleton address={address} />}>
        {(detail) => <Detail address={address} detail={detail} values={values} change={change} />}
      </Region>
      {query.error !== undefined && !found && (
        <h1 class="vh" tabIndex={-1}>
          {address.name}
        </h1>
      )}
    </>
  )
}

/** Scrolls to the section of the URL when the page has loaded. */
function useScrollToHash(found: boolean): void {
  const done = useRef(false)
  useEffect(() => {
    if (!found || done.current) return
    done.current = true
    const id = decoded(location.hash.slice(1))
    if (id && scrollY === 0) stayAt(id)
  }, [found])
}

/** How long content above a section may keep growing. */
const longestMs = 4000

/** Scrolls to a section, and again while content above it grows, until the person scrolls or types. */
function stayAt(id: string): void {
  const stop = new AbortController()
  const go = (): void => document.getElementById(id)?.scrollIntoView()
  const observer = new ResizeObserver(go)
  observer.observe(document.body)
  const end = (): void => {
    observer.disconnect()
    stop.abort()
  }
  for (const event of ['keydown', 'pointerdown', 'wheel', 'popstate', 'click'])
    addEventListener(event, end, { signal: stop.signal, passive: true })
  setTimeout(end, longestMs)
}

function Detail({ address, detail, values, change }: Omit<SectionProps, 'version' | 'docs'>) {
  const [headings, setHeadings] = useState<readonly ReadmeHeading[]>([])
  const version = useMemo(() => chosenVersion(detail, values.version), [detail, values.version])
  const documentation = useDocs(address, detail, version)
  const { folder } = address
  useEffect(refreshOld, [folder?.name, values.tab])
  const { docs: whole, query } = documentation
  const docs = whole && folder ? docsOfFolder(whole, folder) : whole
  const section = { address, detail, version, docs, values, change }
  const isModule = detail.kind === 'module'
  return (
    <div class={isModule ? 'detail module' : 'detail'}>
      <div class="lead">
        <Header {...section} summary={isModule ? whole?.root.description : undefined} />
        <VersionNote {...section} />
      </div>
      <Aside {...section} headings={headings} />
      <div class="body">
        {isModule && <DocsTabs {...section} docs={whole} query={query} />}
        {detail.hasPages && (
          <ProviderTabs address={address} version={values.version} current="overview" />
        )}
        {folder !== undefined ? (
          <FolderPart
            {...section}
            folder={folder}
            query={query}
            headings={headings}
            onHeadings={setHeadings}
          />
        ) : (
          <Parts {...section} query={query} headings={headings} onHeadings={setHeadings} />
        )}
      </div>
    </div>
  )
}

interface PartsProps extends SectionProps {
  readonly query: Query<VersionDocs>
  readonly headings: readonly ReadmeHeading[]
  readonly onHeadings: (headings: readonly ReadmeHeading[]) => void
}

/** Parts below the tabs of a module, in addition to its lists. For a provider, all parts. */
function Parts({ query, headings, onHeadings, ...section }: PartsProps) {
  const { address, detail, docs, values, version } = section
  const tab = shownTab(detail, values)
  const readme = readmeOf(detail, docs)
  const versions = (
    <>
      <VersionsSection {...section} />
      {detail.kind === 'provider' && <FindingsSection {...section} />}
      <DownloadsSection address={address} detail={detail} />
    </>
  )
  if (tab === 'findings') return <FindingsSection {...section} />
  if (tab === 'versions') return versions
  if (tab !== '') return null
  // The usage block grows by its inputs, so it waits for them. Then nothing below moves.
  if (detail.hasDocs && query.data === undefined && query.error === undefined) {
    return <Lines count={14} />
  }
  const isModule = detail.kind === 'module'
  return (
    <>
      {detail.hasDocs && docs === undefined && <Missing query={query} />}
      <div class={readme === undefined ? undefined : 'beside'}>
        <Usage {...section} />
        {readme !== undefined && (
          <div class="wide">
            <Readme
              content={readme}
              filesUrl={detail.filesUrl}
              version={version.shown}
              onHeadings={onHeadings}
            />
          </div>
        )}
        <Overview {...section} />
        {isModule && readme !== undefined && <Contents {...section} headings={headings} />}
      </div>
      {!isModule && versions}
    </>
  )
}

const Skeleton = ({ address }: { readonly address: PageAddress }) => (
  <div class="detail">
    <div class="lead">
      <div class="title">
        <Icon name={kindIcon(address.kind)} tone="quiet" />
        <h1 tabIndex={-1}>{address.name}</h1>
      </div>
      <div class="meta">
        <Bone width="w2" />
        <Bone width="w2" />
        <Bone width="w3" />
        <Bone width="w2" />
      </div>
    </div>
    <div class="aside">
      <Bone width="w3" tall />
      <Bone width="w2" />
      <Bone width="w2" />
    </div>
    <div class="body">
      <section class="readme" aria-label="Loading">
        <div class="prose">
          <Lines count={14} />
        </div>
      </section>
    </div>
  </div>
)
