import type { NamespaceList, ResourcePage } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Region } from '../parts/region.tsx'
import { useTitle } from '../shell/title.ts'
import { navigate, type UrlChange } from '../url/navigate.ts'
import {
  namespacesUrl,
  type ResourcesValues,
  resourcesHref,
  resourcesParams,
  resourcesUrl,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'
import { ActiveFilters } from './chips.tsx'
import { activeFilters } from './choices.ts'
import { EmptyRegistry, NothingMatches } from './empty.tsx'
import { Filters } from './filters.tsx'
import { ListHead, ResourceList } from './list.tsx'
import { CardsSkeleton, TableSkeleton } from './skeleton.tsx'

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
