import type { NamespaceList, ResourcePage } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Region } from '../parts/region.tsx'
import { Bone } from '../parts/skeleton.tsx'
import { Cell, RowHead, Table } from '../parts/table.tsx'
import { useTitle } from '../shell/page-head.tsx'
import { navigate, type UrlChange } from '../url/navigate.ts'
import {
  namespacesUrl,
  type ResourcesValues,
  resourcesHref,
  resourcesParams,
  resourcesUrl,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { ActiveFilters, activeFilters } from './chips.tsx'
import { EmptyRegistry, NothingMatches } from './empty.tsx'
import { Filters } from './filters.tsx'
import { ListHead, ResourceList } from './list.tsx'

/** All resources that the caller may see, filtered and sorted, as a table or as cards. */
export function ResourcesPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(resourcesParams, search)
  const query = useQuery<ResourcePage>(resourcesUrl(values))
  const namespaces = useQuery<NamespaceList>(namespacesUrl)
  useTitle(values.q === '' ? 'Registry' : `${values.q} in the registry`)
  const change: UrlChange<ResourcesValues> = (changed, how) =>
    navigate(resourcesHref({ ...values, page: 1, ...changed }), how)
  const active = activeFilters(values).length
  return (
    <>
      <ListHead data={query.data} values={values} />
      <Filters values={values} namespaces={namespaces.data} change={change} />
      <ActiveFilters values={values} change={change} />
      <Region
        query={query}
        what="The list"
        skeleton={values.view === 'cards' ? <CardsSkeleton /> : <TableSkeleton />}
        resetHref={resourcesHref({ view: values.view })}
      >
        {(data) => (
          <ResourceList
            data={data}
            values={values}
            onRows={(rows) => change({ page_size: rows })}
            empty={
              active > 0 ? <NothingMatches count={active} values={values} /> : <EmptyRegistry />
            }
          />
        )}
      </Region>
    </>
  )
}

const columns = [
  { words: 'Name', look: 'full', width: 'w4' },
  { words: 'System', look: 'short', width: 'w2' },
  { words: 'Latest', look: 'short', width: 'w2' },
  { words: 'Status', look: '', width: 'w2' },
  { words: 'Findings, latest version', look: 'full', width: 'w3' },
  { words: 'Downloads', look: 'num', width: 'w1' },
  { words: 'Visibility', class: 'mid-hide', look: 'mid-hide', width: 'w2' },
]

const TableSkeleton = () => (
  <Table label="Modules and providers, loading" look="stack flow" busy heads={columns}>
    {Array.from({ length: 20 }, (_, at) => (
      <tr key={at} role="row">
        {columns.map(({ words, look, width }, column) => {
          const Part = column === 0 ? RowHead : Cell
          return (
            <Part key={words} class={look}>
              <Bone width={width} />
            </Part>
          )
        })}
      </tr>
    ))}
  </Table>
)

const CardsSkeleton = () => (
  <ul class="cards" aria-label="Modules and providers, loading">
    {Array.from({ length: 12 }, (_, at) => (
      <li key={at} class="card">
        <span class="addr">
          <Bone width="w4" />
        </span>
        <span />
        <div class="facts">
          <Bone width="w3" />
        </div>
        <div class="facts">
          <Bone width="w3" />
        </div>
        <div class="bottom">
          <Bone width="w2" />
        </div>
      </li>
    ))}
  </ul>
)
