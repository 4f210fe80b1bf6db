import type { ResourceDetail } from '../api/records.ts'
import { SyncChip, Visibility } from '../parts/badge.tsx'
import { plural, sentence } from '../parts/format.ts'
import { Icon, kindIcon } from '../parts/icon.tsx'
import { Note } from '../parts/message.tsx'
import { OutLink } from '../parts/out-link.tsx'
import { OutOfSync } from '../parts/out-of-sync.tsx'
import { ReasonMark } from '../parts/reason-mark.tsx'
import { SeverityCounts } from '../parts/severity-counts.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { feedHref, heldBackHref, resourceHref } from '../url/pages.ts'
import { shownTab } from './docs/shown-tab.ts'
import { safeHref } from './safe-href.ts'
import type { SectionProps } from './section.ts'

/** Name and state of the resource, with findings and downloads of the shown version. */
export function Header(props: SectionProps & { readonly summary: string | undefined }) {
  const { address, detail, values, version, summary } = props
  const { shown, synced, isLatest } = version
  const { namespace, kind, name } = detail
  const repository = safeHref(detail.repoUrl ?? '')
  const upstreamDocs = safeHref(detail.upstreamDocsUrl ?? '')
  return (
    <>
      <div class="title">
        <Icon name={kindIcon(detail.kind)} tone="quiet" />
        <h1 tabIndex={-1}>{detail.name}</h1>
        <span class="tag">{detail.kind === 'provider' ? 'Provider' : 'Module'}</span>
        {detail.provider !== undefined && <span class="tag mono">{detail.provider}</span>}
        <ReasonMark reason={detail.reason} of={detail} />
      </div>
      {summary !== undefined && <p class="summary">{summary}</p>}
      <div class="meta">
        {shown !== undefined && (
          <span>
            <span>{isLatest ? 'Latest' : 'Version'}</span>
            <span class="mono">{shown}</span>
          </span>
        )}
        <span>
          <SyncChip synced={isLatest ? detail.synced : synced} />
          {detail.hasUnsyncedVersions === true && <OutOfSync />}
        </span>
        <span>
          <SeverityCounts counts={detail.scanCounts} href={findingsHref(address, detail, values)} />
        </span>
        <span class="num">
          {isLatest
            ? plural(detail.totalDownloads, 'download')
            : `${plural(detail.downloadCount ?? 0, 'download')} of ${shown}`}
        </span>
        <Published published={detail.published} />
        <Visibility isPublic={detail.public} />
        {repository !== undefined && <OutLink href={repository}>Repository</OutLink>}
        {upstreamDocs !== undefined && detail.hasPages === undefined && (
          <OutLink href={upstreamDocs}>Documentation</OutLink>
        )}
        <a href={feedHref({ namespace, kind, name })}>Feed</a>
      </div>
      {detail.message !== undefined && (
        <Note tone="warn older" icon="clash" role="note">
          {sentence(detail.message)}{' '}
          {detail.reason === 'HeldBack' && (
            <a href={heldBackHref({ q: `${namespace}/${name}` })}>Show them</a>
          )}
        </Note>
      )}
    </>
  )
}

/** Findings are on the first page of a provider, and on a tab of a module. */
function findingsHref(
  { folder, ...whole }: SectionProps['address'],
  detail: SectionProps['detail'],
  values: SectionProps['values'],
): string {
  const isHere = detail.kind === 'provider' || shownTab(detail, values) === 'findings'
  return isHere && folder === undefined
    ? '#findings'
    : resourceHref(whole, { ...values, tab: 'findings' })
}

/** The origin of the shown version, if it was published over HTTP. */
function Published({ published }: Pick<ResourceDetail, 'published'>) {
  if (published === undefined) return null
  const { by, ref, commit, runUrl, at } = published
  const run = runUrl?.startsWith('https:') ? safeHref(runUrl) : undefined
  return (
    <span>
      <span title={commit && `Commit ${commit}`}>
        Published
        {by !== undefined && (
          <>
            {' by '}
            <span class="mono">{by}</span>
          </>
        )}
        {ref !== undefined && (
          <>
            {' at '}
            <span class="mono">{ref.replace(/^refs\/(?:tags|heads)\//, '')}</span>
          </>
        )}
        {', '}
        <TimeAgo at={at} />
      </span>
      {run !== undefined && <OutLink href={run}>Run {run.split('/').at(-1)}</OutLink>}
    </span>
  )
}
