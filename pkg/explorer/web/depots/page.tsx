import { useEffect, useMemo, useState } from 'preact/hooks'
import type { DepotGraph, NamespaceList } from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { fullTime, plural } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { nameOptions, Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Lines } from '../parts/skeleton.tsx'
import { useTitle } from '../shell/title.ts'
import { navigate } from '../url/navigate.ts'
import {
  type DepotsValues,
  depotsHref,
  depotsParams,
  graphUrl,
  namespacesUrl,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { Graph } from './graph.tsx'
import { DepotTree } from './list.tsx'
import { search as searchGraph } from './managed.ts'
import { Panel } from './panel.tsx'

/** Which depot manages what: a graph, or the same as a list. */
export function DepotsPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(depotsParams, search)
  const query = useQuery<DepotGraph>(graphUrl(values.namespace))
  const namespaces = useQuery<NamespaceList>(namespacesUrl)
  const isNarrow = useNarrow()
  useTitle('Depots')
  const view = values.view === '' ? (isNarrow ? 'list' : 'graph') : values.view
  const change = (changed: Partial<DepotsValues>, how?: 'push' | 'replace'): void =>
    navigate(depotsHref({ ...values, ...changed }), how)
  const names = namespaces.data?.items.map(({ name }) => name) ?? []
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Depots</h1>
        <span class="quiet num" role="status">
          {query.data !== undefined && countsOf(query.data)}
        </span>
      </div>
      <search class="filters" aria-label="Filter depots">
        <SearchField
          label="Find a depot, module or provider"
          value={values.q}
          main
          onSearch={(q) => change({ q }, 'replace')}
        />
        <Pick
          label="Namespace"
          value={values.namespace}
          options={nameOptions('All namespaces', names, values.namespace)}
          onChoose={(namespace) => change({ namespace, node: '' })}
        />
        <div class="group" role="group" aria-label="View">
          {(['graph', 'list'] as const).map((it) => (
            <button
              key={it}
              type="button"
              class="btn"
              aria-pressed={view === it}
              onClick={() => change({ view: it })}
            >
              {it === 'graph' ? 'Graph' : 'List'}
            </button>
          ))}
        </div>
        <RefreshButton query={query} />
      </search>
      <div class="gap" />
      <Region
        query={query}
        what="The depots"
        skeleton={
          <div class="stage loading">
            <div class="canvas">
              <Lines count={6} />
            </div>
          </div>
        }
        resetHref={depotsHref()}
      >
        {(graph) => <Content graph={graph} values={values} view={view} change={change} />}
      </Region>
    </>
  )
}

interface ContentProps {
  readonly graph: DepotGraph
  readonly values: DepotsValues
  readonly view: 'graph' | 'list'
  readonly change: (changed: Partial<DepotsValues>) => void
}

function Content({ graph, values, view, change }: ContentProps) {
  const found = useMemo(() => searchGraph(graph, values.q), [graph, values.q])
  if (graph.depots.length === 0) {
    return (
      <div class="void">
        <h2 class="h3">No depots are visible to you.</h2>
        <p>A depot keeps modules and providers in step with their sources.</p>
        {values.namespace !== '' && (
          <a class="btn" href={depotsHref({ view: values.view })}>
            Show all namespaces
          </a>
        )}
      </div>
    )
  }
  if (view === 'list') return <DepotTree graph={graph} selected={values.node} found={found} />
  const hasNode = values.node !== '' && nodeExists(graph, values.node)
  const close = (): void => {
    change({ node: '' })
    document.getElementById('graph')?.focus()
  }
  return (
    <>
      <a class="skip" href={depotsHref({ ...values, view: 'list' })}>
        Show the depots as a list
      </a>
      {found?.size === 0 && (
        <p class="note" role="status">
          Nothing matches these filters.
        </p>
      )}
      <div class={hasNode ? 'stage' : 'stage bare'}>
        <Graph
          graph={graph}
          selected={hasNode ? values.node : ''}
          found={found}
          onSelect={(node) => {
            if (node !== values.node) change({ node })
          }}
        />
        {hasNode && <Panel graph={graph} id={values.node} onClose={close} />}
      </div>
    </>
  )
}

const nodeExists = (graph: DepotGraph, id: string): boolean =>
  [graph.depots, graph.modules, graph.providers].some((list) => list.some((it) => it.id === id))

const countsOf = ({ summary }: DepotGraph): string =>
  [
    plural(summary.totalDepots, 'depot'),
    plural(summary.totalModules, 'module'),
    plural(summary.totalProviders, 'provider'),
  ].join(', ')

const seconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })

function RefreshButton({ query }: { readonly query: Query<DepotGraph> }) {
  const at = Date.parse(query.data?.generatedAt ?? '')
  return (
    <button type="button" class="btn bare" onClick={query.refetch}>
      <Icon name="refresh" />
      {Number.isFinite(at) ? (
        <span>
          As of{' '}
          <time dateTime={new Date(at).toISOString()} title={fullTime(at)}>
            {seconds.format(at)}
          </time>
          <Hidden>, refresh</Hidden>
        </span>
      ) : (
        'Refresh'
      )}
    </button>
  )
}

/** Whether the list is the better default. */
function useNarrow(): boolean {
  const [query] = useState(() => matchMedia('(max-width: 40rem)'))
  const [isNarrow, setNarrow] = useState(query.matches)
  useEffect(() => {
    const onChange = (): void => setNarrow(query.matches)
    query.addEventListener('change', onChange)
    return () => query.removeEventListener('change', onChange)
  }, [query])
  return isNarrow
}
