import type { BrowseResource } from '../api/records.ts'
import { AddressLink } from '../parts/address.tsx'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { plural } from '../parts/format.ts'
import { OutOfSync } from '../parts/out-of-sync.tsx'
import { ReasonMark } from '../parts/reason-mark.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'

interface CardsProps {
  readonly items: readonly BrowseResource[]
  /** Words of the search. */
  readonly typed: string
}

export const Cards = ({ items, typed }: CardsProps) => (
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
