import { useMemo } from 'preact/hooks'
import type { BrowseResource } from '../api/records.ts'
import { AddressLink } from '../parts/address.tsx'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { Icon } from '../parts/icon.tsx'
import { OutOfSync } from '../parts/out-of-sync.tsx'
import { ReasonMark } from '../parts/reason-mark.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import {
  Cell,
  CodeCell,
  CodeOrNone,
  type Head,
  NumberCell,
  RowHead,
  Table,
} from '../parts/table.tsx'
import { type ResourcesValues, resourcesHref } from '../url/pages.ts'
import { sortedBy, startsDescending } from './filters.tsx'

interface Props {
  readonly items: readonly BrowseResource[]
  readonly values: ResourcesValues
}

export function ResourceTable({ items, values }: Props) {
  // The same elements while the items are the same, so that other changes of the page do not redraw them.
  const rows = useMemo(
    () =>
      items.map((item) => (
        <Row key={`${item.namespace}/${item.kind}/${item.name}`} item={item} typed={values.q} />
      )),
    [items, values.q],
  )
  return (
    <Table label="Modules and providers" look="stack flow" heads={heads(values)}>
      {rows}
    </Table>
  )
}

const heads = (values: ResourcesValues): (Head | string)[] => [
  sortable(values, 'name', 'Name'),
  'System',
  sortable(values, 'latestVersion', 'Latest'),
  sortable(values, 'synced', 'Status'),
  sortable(values, 'severity', 'Findings, latest version'),
  sortable(values, 'totalDownloads', 'Downloads', 'num'),
  { words: 'Visibility', class: 'mid-hide' },
]

/** A head that sorts by its column, or reverses the order. */
function sortable(
  values: ResourcesValues,
  by: ResourcesValues['sort_by'],
  words: string,
  name?: string,
): Head {
  const on = sortedBy(values) === by
  const descending = values.sort_dir === 'desc'
  const next = on ? !descending : startsDescending.has(by)
  const href = resourcesHref({
    ...values,
    page: 1,
    sort_by: by,
    sort_dir: next ? 'desc' : 'asc',
  })
  return {
    class: name,
    sort: on ? (descending ? 'descending' : 'ascending') : undefined,
    words: (
      <a href={href}>
        {words}
        {on && <Icon name={descending ? 'down' : 'up'} />}
      </a>
    ),
  }
}

const Row = ({ item, typed }: { readonly item: BrowseResource; readonly typed: string }) => (
  <tr role="row">
    <RowHead class="full">
      <span class="held">
        <AddressLink of={item} typed={typed} />
        <ReasonMark reason={item.reason} of={item} />
      </span>
    </RowHead>
    <Cell label="System" class="short">
      {item.kind === 'provider' ? (
        <span class="quiet">provider</span>
      ) : (
        <CodeOrNone text={item.provider} />
      )}
    </Cell>
    <CodeCell label="Latest" class="short" text={item.latestVersion} />
    <Cell class="nowrap">
      <SyncChip synced={item.synced} />
      {item.hasUnsyncedVersions === true && <OutOfSync />}
    </Cell>
    <Cell class="full">
      <SeverityCounts counts={item.scanCounts} slots />
    </Cell>
    <NumberCell label="Downloads" value={item.totalDownloads} />
    <Cell class="mid-hide">
      <Visibility isPublic={item.public} />
    </Cell>
  </tr>
)
