import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { DepotGraph } from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { fullTime, number, plural } from '../parts/format.ts'
import { Hidden, Icon, IconButton } from '../parts/icon.tsx'
import { NamespacePick } from '../parts/namespace-pick.tsx'
import { Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Count } from '../parts/section.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { navigate, type UrlChange } from '../url/navigate.ts'
import { type DepotsValues, depotsHref, depotsParams, graphUrl } from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { Content } from './content.tsx'
import { canBeDrawn, type FleetHit, fleetOf, search as searchFleet, withHealth } from './fleet.ts'

/** Shows which depot manages what, whether it is healthy, and where a module or provider is. */
export function DepotsPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(depotsParams, search)
  const query = useQuery<DepotGraph>(graphUrl({ namespace: values.namespace }))
  const isNarrow = useNarrow()
  const fleet = useMemo(() => query.data && fleetOf(query.data), [query.data])
  const change: UrlChange<DepotsValues> = (changed, how) =>
    navigate(depotsHref({ ...values, ...changed }), how)
  const depots = useMemo(() => withHealth(fleet, values.health), [fleet, values.health])
  const hits = useMemo(() => searchFleet(depots, values.q), [depots, values.q])
  const finding = useFinding(values, hits, change)
  const isDrawable = fleet !== undefined && canBeDrawn(fleet.depots)
  const view = isDrawable ? values.view || (isNarrow ? 'list' : 'graph') : 'list'
  return (
    <>
      <PageHead title="Depots">
        <Count>{query.data !== undefined && countsOf(query.data)}</Count>
      </PageHead>
      <search class="filters" aria-label="Filter depots">
        <Finding values={values} hits={hits} finding={finding} />
        <NamespacePick
          value={values.namespace}
          onChoose={(namespace) => change({ namespace, node: '' })}
        />
        <Pick
          label="Health"
          value={values.health}
          options={healths}
          onChoose={(health) => change({ health: health })}
        />
        {isDrawable && <ViewPick view={view} onChoose={(it) => change({ view: it })} />}
        <RefreshButton query={query} />
      </search>
      <div class="gap" />
      <Region query={query} what="The depots" skeleton={6} resetHref={depotsHref()}>
        {() =>
          fleet && (
            <Content
              fleet={fleet}
              depots={depots}
              values={values}
              view={view}
              hits={hits}
              current={hits[finding.at]?.node}
              change={change}
            />
          )
        }
      </Region>
    </>
  )
}

const healths = [
  ['', 'Any health'],
  ['trouble', 'Needs a look'],
  ['failing', 'Failing'],
  ['held', 'Removal held'],
  ['unsynced', 'Not in sync'],
  ['healthy', 'Healthy'],
] as const

type View = 'graph' | 'list'

const ViewPick = ({ view, onChoose }: { view: View; onChoose: (view: View) => void }) => (
  <div class="group" role="group" aria-label="View">
    {(['graph', 'list'] as const).map((it) => (
      <button
        key={it}
        type="button"
        class="btn"
        aria-pressed={view === it}
        onClick={() => onChoose(it)}
      >
        {it === 'graph' ? 'Graph' : 'List'}
      </button>
    ))}
  </div>
)

interface FindingProps {
  readonly values: DepotsValues
  readonly hits: readonly FleetHit[]
  readonly finding: ReturnType<typeof useFinding>
}

/** The search, and buttons that jump between its hits. */
const Finding = ({ values, hits, finding: { at, jump, onSearch, onEscape } }: FindingProps) => (
  <>
    <SearchField
      label="Find a depot, module or provider"
      value={values.q}
      main
      onSearch={onSearch}
      onJump={jump}
      onEscape={onEscape}
    >
      {values.q !== '' && (
        <span class="found" role="status">
          {hitCount(hits, at)}
        </span>
      )}
    </SearchField>
    {hits.length > 0 && (
      <div class="group" role="group" aria-label="Hits">
        <IconButton icon="up" words="Previous hit" onClick={() => jump(-1)} />
        <IconButton icon="down" words="Next hit" onClick={() => jump(1)} />
      </div>
    )}
  </>
)

/** Jumps between hits, and restores the node that was chosen before the search. */
function useFinding(
  values: DepotsValues,
  hits: readonly FleetHit[],
  change: UrlChange<DepotsValues>,
) {
  const [at, setAt] = useState(-1)
  const before = useRef(values.node)
  useEffect(() => setAt(-1), [values.q, values.health, values.namespace, hits.length])
  const jump = (step: 1 | -1): void => {
    const next = at < 0 && step < 0 ? hits.length - 1 : (at + step + hits.length) % hits.length
    const hit = hits[next]
    if (hit === undefined) return
    setAt(next)
    change({ node: hit.depot.id }, 'replace')
  }
  const onSearch = (q: string): void => {
    if (values.q === '') before.current = values.node
    change({ q }, 'replace')
  }
  const onEscape = (): void => {
    if (values.q !== '') change({ q: '', node: before.current }, 'replace')
  }
  return { at, jump, onSearch, onEscape }
}

/** Formats `14 hits in 6 depots`, or `3 of 14, in 6 depots` after a jump. */
function hitCount(hits: readonly FleetHit[], at: number): string {
  const depots = plural(new Set(hits.map(({ depot }) => depot)).size, 'depot')
  if (at < 0) return `${plural(hits.length, 'hit')} in ${depots}`
  return `${number(at + 1)} of ${number(hits.length)}, in ${depots}`
}

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

/** Whether the window is so narrow that the list is the default view. */
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
