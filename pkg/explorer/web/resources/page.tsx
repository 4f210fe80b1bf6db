import type { NamespaceList, ResourcePage } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { number, plural } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Pagination } from '../parts/pagination.tsx'
import { Region } from '../parts/region.tsx'
import { writeChoice } from '../shell/choices.ts'
import { useTitle } from '../shell/title.ts'
import { navigate } from '../url/navigate.ts'
import {
  namespacesUrl,
  type ResourcesValues,
  resourcesHref,
  resourcesParams,
  resourcesUrl,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { Cards } from './card.tsx'
import { ActiveFilters, activeFilters } from './chips.tsx'
import { EmptyRegistry, NothingMatches } from './empty.tsx'
import { Filters } from './filters.tsx'
import { CardsSkeleton, TableSkeleton } from './skeleton.tsx'
import { ResourceTable } from './table.tsx'

/** Everything that the caller may see: filtered, sorted, as a table or as cards. */
export function ResourcesPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(resourcesParams, search)
  const query = useQuery<ResourcePage>(resourcesUrl(values))
  const namespaces = useQuery<NamespaceList>(namespacesUrl)
  useTitle(values.q === '' ? 'Registry' : `${values.q} in the registry`)
  const change = (changed: Partial<ResourcesValues>, how?: 'push' | 'replace'): void =>
    navigate(resourcesHref({ ...values, page: 1, ...changed }), how)
  const filtered = activeFilters(values).length > 0
  const cards = values.view === 'cards'
  return (
    <>
      <div class="page-head">
        <h1 tabIndex={-1}>Registry</h1>
        <span class="quiet num" role="status">
          {query.data !== undefined && countOf(query.data, filtered)}
        </span>
        <span class="end">
          <ViewSwitch values={values} />
        </span>
      </div>
      <Filters values={values} namespaces={namespaces.data} change={change} />
      <ActiveFilters values={values} change={change} />
      <Region
        query={query}
        what="The list"
        skeleton={cards ? <CardsSkeleton /> : <TableSkeleton />}
        resetHref={resourcesHref({ view: values.view })}
      >
        {(data) =>
          data.totalCount === 0 ? (
            filtered ? (
              <NothingMatches count={activeFilters(values).length} view={values.view} />
            ) : (
              <EmptyRegistry />
            )
          ) : (
            <>
              {cards ? (
                <Cards items={data.items} />
              ) : (
                <ResourceTable items={data.items} values={values} />
              )}
              <Pagination
                what="results"
                page={data.page}
                pageSize={data.pageSize}
                total={data.totalCount}
                hrefOf={(page) => resourcesHref({ ...values, page })}
                onRows={(rows) => change({ page_size: rows })}
              />
            </>
          )
        }
      </Region>
    </>
  )
}

const countOf = ({ totalCount }: ResourcePage, filtered: boolean): string =>
  filtered ? plural(totalCount, 'result') : `${number(totalCount)} modules and providers`

const views = [
  { view: 'table', words: 'Table' },
  { view: 'cards', words: 'Cards' },
] as const

const ViewSwitch = ({ values }: { readonly values: ResourcesValues }) => (
  <div class="group only-wide" role="group" aria-label="View">
    {views.map(({ view, words }) => (
      <a
        key={view}
        class="btn icon"
        href={resourcesHref({ ...values, view })}
        title={words}
        aria-current={values.view === view ? 'true' : undefined}
        onClick={() => writeChoice('view', view)}
      >
        <Icon name={view} />
        <Hidden>{words}</Hidden>
      </a>
    ))}
  </div>
)
