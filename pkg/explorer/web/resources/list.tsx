import type { BrowseResource, ResourcePage } from '../api/records.ts'
import { AddressLink } from '../parts/address.tsx'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { plural } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { OutOfSync } from '../parts/out-of-sync.tsx'
import { Paged } from '../parts/pagination.tsx'
import { ReasonMark } from '../parts/reason-mark.tsx'
import { Count } from '../parts/section.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import { writeChoice } from '../shell/storage.ts'
import { feedHref, type ResourcesValues, resourcesHref } from '../url/pages.ts'
import { activeFilters } from './chips.tsx'
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

interface CardsProps {
  readonly items: readonly BrowseResource[]
  /** Words of the search. */
  readonly typed: string
}

const Cards = ({ items, typed }: CardsProps) => (
  <ul class="cards" aria-label="Modules and providers">
    {items.map((item) => (
      <Card key={`${item.namespace}/${item.kind}/${item.name}`} item={item} typed={typed} />
    ))}
  </ul>
)

const Card = ({ item, typed }: { readonly item: BrowseResource; readonly typed: string }) => (
  <li class="card">
    <AddressLink of={item} typed={typed} />
    <span>{item.hasUnsyncedVersions === true && <OutOfSync />}</span>
    <div class="facts">
      <code class="ver">{item.latestVersion ?? 'No version'}</code>
      <span>
        {item.kind === 'provider' ? 'Provider' : 'Module'}
        {item.provider !== undefined && (
          <>
            {' '}
            for <code>{item.provider}</code>
          </>
        )}
      </span>
      <SyncChip synced={item.synced} />
      <ReasonMark reason={item.reason} of={item} />
    </div>
    <div class="facts">
      <SeverityCounts counts={item.scanCounts} />
    </div>
    <div class="bottom">
      <span class="num">{plural(item.totalDownloads, 'download')}</span>
      <Visibility isPublic={item.public} />
    </div>
  </li>
)
