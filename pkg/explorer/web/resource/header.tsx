import type { ResourceDetail } from '../api/records.ts'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { plural } from '../parts/format.ts'
import { Icon, kindIcon } from '../parts/icon.tsx'
import { OutOfSync } from '../parts/out-of-sync.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import { safeHref } from './safe-href.ts'

export function Header({ detail }: { readonly detail: ResourceDetail }) {
  const repository = safeHref(detail.repoUrl ?? '')
  return (
    <div class="lead">
      <div class="title">
        <Icon name={kindIcon(detail.kind)} tone="quiet" />
        <h1 tabIndex={-1}>{detail.name}</h1>
        <span class="tag">{detail.kind === 'provider' ? 'Provider' : 'Module'}</span>
        {detail.provider !== undefined && <span class="tag mono">{detail.provider}</span>}
      </div>
      <div class="meta">
        {detail.latestVersion !== undefined && (
          <span>
            <span>Latest</span>
            <span class="mono">{detail.latestVersion}</span>
          </span>
        )}
        <span>
          <SyncChip synced={detail.synced} />
          {detail.hasUnsyncedVersions === true && <OutOfSync />}
        </span>
        <span>
          <SeverityCounts counts={detail.scanCounts} href="#findings" />
        </span>
        <span class="num">{plural(detail.totalDownloads, 'download')}</span>
        <Visibility isPublic={detail.public} />
        {repository !== undefined && (
          <a href={repository} rel="noopener noreferrer">
            Repository
            <Icon name="out" />
          </a>
        )}
      </div>
    </div>
  )
}
