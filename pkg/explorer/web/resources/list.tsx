import type { ResourcePage } from '../api/records.ts'
import { plural } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Paged } from '../parts/pagination.tsx'
import { Count } from '../parts/section.tsx'
import { writeChoice } from '../shell/choices.ts'
import { feedHref, type ResourcesValues, resourcesHref } from '../url/pages.ts'
import { Cards } from './card.tsx'
import { activeFilters } from './choices.ts'
import { ResourceTable } from './table.tsx'

/* The parts of the page that the server also renders. They use neither URL nor window. */

interface HeadProps {
  /** Undefined while loading. */
  readonly data: ResourcePage | undefined
  readonly values: ResourcesValues
}

export const ListHead = ({ data, values }: HeadProps) => (
  <div class="page-head">
    <h1 tabIndex={-1}>Registry</h1>
    <Count>{data !== undefined && countOf(data, values)}</Count>
    <a href={feedHref()}>Feed</a>
    <span class="end">
      <ViewSwitch values={values} />
    </span>
  </div>
)

const countOf = ({ totalCount }: ResourcePage, values: ResourcesValues): string =>
  activeFilters(values).length > 0
    ? plural(totalCount, 'result')
    : plural(totalCount, 'module or provider', 'modules and providers')

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

interface ListProps {
  readonly data: ResourcePage
  readonly values: ResourcesValues
  /** Undefined in HTML that the server renders, where nothing listens yet. */
  readonly onRows: ((rows: number) => void) | undefined
  /** Replaces a list without resources. */
  readonly empty?: preact.ComponentChildren
}

/** One page of the list, in either view. */
export const ResourceList = ({ data, values, onRows, empty }: ListProps) => (
  <Paged
    what="results"
    of={data}
    hrefOf={(page) => resourcesHref({ ...values, page })}
    onRows={onRows}
    empty={empty}
  >
    {values.view === 'cards' ? (
      <Cards items={data.items} typed={values.q} />
    ) : (
      <ResourceTable items={data.items} values={values} />
    )}
  </Paged>
)
