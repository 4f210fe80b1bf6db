import { useState } from 'preact/hooks'
import { boot } from '../../api/boot.ts'
import type { ResourceDetail, VersionItem } from '../../api/records.ts'
import { Status, SyncChip } from '../../parts/badge.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { bytes, number, sentence } from '../../parts/format.ts'
import { Hidden, Icon, IconButton } from '../../parts/icon.tsx'
import { ReasonMark, StateMark } from '../../parts/reason-mark.tsx'
import { SeverityCounts } from '../../parts/severity-counts.tsx'
import { Cell, None, NumberCell, RowHead } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import {
  compareHref,
  type PageAddress,
  type ResourceValues,
  resourceHref,
} from '../../url/pages.ts'
import { hasFailed, isBlocked, platformOf, type VersionGroup } from './groups.ts'

interface Props {
  readonly group: VersionGroup
  readonly address: PageAddress
  readonly values: ResourceValues
  /** The previous version to compare with; undefined if there is none, or nothing to compare. */
  readonly previous: string | undefined
  readonly isLatest: boolean
  /** The state of its lifecycle; undefined if it is active. */
  readonly state: ResourceDetail['versions'][number]['state']
  /** Whether the page shows this version. */
  readonly isShown: boolean
  /** Whether the platforms are open at first. */
  readonly isOpen: boolean
}

/** A version, and below it the platforms of a provider or the reason why a module has failed. */
export function VersionRow(props: Props) {
  const { group, address, isShown, isOpen } = props
  const [open, setOpen] = useState(isOpen)
  const { version, archives, duplicates, scanCounts, downloads } = group
  const isProvider = address.kind === 'provider'
  const below = isProvider ? open : archives.some(needsWhy) || duplicates.length > 0
  return (
    <>
      <tr role="row" class={isShown ? 'on' : undefined}>
        <RowHead class="nowrap full">
          {isProvider && (
            <IconButton
              icon={open ? 'down' : 'right'}
              words={`Platforms of ${version}`}
              look="bare small"
              aria-expanded={open}
              onClick={() => setOpen(!open)}
            />
          )}
          <VersionName {...props} />
        </RowHead>
        {isProvider ? (
          <Cell label="Platforms" class="nowrap">
            <PlatformCounts group={group} />
          </Cell>
        ) : (
          <Cell class="nowrap">{archives[0] !== undefined && <Sync archive={archives[0]} />}</Cell>
        )}
        <Cell class="full">
          <SeverityCounts counts={scanCounts} slots />
        </Cell>
        <NumberCell label="Downloads" value={downloads} />
        <Cell label="Last" class="nowrap">
          <TimeAgo at={group.lastDownloadedAt} />
        </Cell>
        {!isProvider && <OfModule {...props} />}
      </tr>
      {below && (
        <tr role="row" class="below">
          <td role="cell" class="full" colSpan={8}>
            {isProvider && <Platforms archives={archives} />}
            {[...(isProvider ? [] : archives.filter(needsWhy)), ...duplicates].map((it, at) => (
              <Why key={at} archive={it} />
            ))}
          </td>
        </tr>
      )}
    </>
  )
}

/** The number, with a link that shows the version, and its marks. */
function VersionName({ group, address, values, isLatest, state, isShown }: Props) {
  const { version, reasons, breaks } = group
  return (
    <>
      <a
        class={state === undefined || state === 'Deprecated' ? 'version' : 'version gone'}
        href={resourceHref(address, {
          ...values,
          version: isLatest ? '' : version,
          // The list of a module has its own tab, so a version links to its README.
          tab: '',
        })}
        aria-current={isShown ? 'true' : undefined}
        title={`Show ${version}`}
        data-keep={address.kind === 'provider' || undefined}
      >
        <code>{version}</code>
      </a>
      {isLatest && <span class="tag">Latest</span>}
      {state !== undefined && state !== 'Quarantined' && <StateMark state={state} />}
      {reasons.map((reason) => (
        <ReasonMark key={reason} reason={reason} of={address} />
      ))}
      {breaks !== undefined && (
        <a
          class="tag mark fail"
          href={compareHref(address, { from: breaks.from, to: version })}
          title={`Breaks callers of ${breaks.from} without a new major version`}
        >
          <Icon name="warn" />
          Breaking
          <Hidden> changes since {breaks.from}</Hidden>
        </a>
      )}
      <CopyButton
        text={boot.baseUrl + resourceHref(address, { version })}
        what={`link to ${version}`}
        icon="link"
      />
    </>
  )
}

/** The archive of a module, and a link to the changes. */
function OfModule({ group: { version, archives }, address, previous }: Props) {
  const [archive] = archives
  return (
    <>
      {archive !== undefined && (
        <>
          <Cell label="Size" class="num">
            <Size archive={archive} />
          </Cell>
          <Cell class="nowrap">
            <Checksum archive={archive} />
          </Cell>
        </>
      )}
      <Cell class="nowrap">
        {previous !== undefined && (
          <a
            class="btn bare small"
            href={compareHref(address, { from: previous, to: version })}
            title={`Compare with ${previous}`}
          >
            <Icon name="compare" />
            Compare
            <Hidden>
              {' '}
              {version} with {previous}
            </Hidden>
          </a>
        )}
      </Cell>
    </>
  )
}

function PlatformCounts({
  group: { archives, failed, waiting },
}: {
  readonly group: VersionGroup
}) {
  const synced = archives.length - failed - waiting
  if (synced === archives.length) return <>{number(synced)}</>
  return (
    <>
      {number(synced)} of {number(archives.length)},{' '}
      {failed > 0 && <Status tone="fail" icon="fail" words={`${number(failed)} failed`} />}
      {waiting > 0 && <Status tone="idle" icon="wait" words={`${number(waiting)} not synced`} />}
    </>
  )
}

const Platforms = ({ archives }: { readonly archives: readonly VersionItem[] }) => (
  <ul class="platforms">
    {archives.map((archive, at) => (
      <li key={at}>
        <code>{platformOf(archive)}</code>
        <Sync archive={archive} />
        {archive.checksum !== undefined && (
          <>
            <span class="num quiet">
              <Size archive={archive} />
            </span>
            <span class="nowrap">
              <Checksum archive={archive} />
            </span>
          </>
        )}
        {needsWhy(archive) && <Why archive={archive} />}
      </li>
    ))}
  </ul>
)

interface ArchiveProps {
  readonly archive: VersionItem
}

const Sync = ({ archive }: ArchiveProps) => (
  <SyncChip synced={archive.synced} failed={hasFailed(archive)} />
)

const needsWhy = (archive: VersionItem): boolean =>
  !archive.synced || isBlocked(archive) || lifecycleText(archive) !== ''

/** Reason why people should use another version; may be empty. */
function lifecycleText({ lifecycle: { message, replacedBy } = {} }: Lifecycled): string {
  const parts = [message && sentence(message), replacedBy && `Take ${replacedBy} instead.`]
  return parts.filter(Boolean).join(' ')
}

interface Lifecycled {
  readonly lifecycle?: Partial<NonNullable<VersionItem['lifecycle']>> | undefined
}

function Why({ archive }: ArchiveProps) {
  const blocked = isBlocked(archive)
  const failed = !blocked && hasFailed(archive)
  const { message = '', syncStatus = 'It has not been synchronised yet.' } = archive
  const platform = archive.reason === 'Duplicate' ? platformOf(archive) : undefined
  const text = blocked ? sentence(message) : archive.synced ? lifecycleText(archive) : syncStatus
  return (
    <div class={failed ? 'why fail' : 'why'}>
      <Icon name={failed ? 'fail' : blocked ? 'clash' : archive.synced ? 'warn' : 'wait'} />
      <p>
        {platform !== undefined && <code>{platform} </code>}
        {text}
      </p>
    </div>
  )
}

const Size = ({ archive: { archiveSizeBytes } }: ArchiveProps) =>
  archiveSizeBytes === undefined ? <None /> : <>{bytes(archiveSizeBytes)}</>

function Checksum({ archive }: ArchiveProps) {
  const { checksum = '', version } = archive
  if (checksum === '') return <None />
  const platform = platformOf(archive)
  const what = platform === undefined ? version : `${version} for ${platform}`
  return (
    <>
      <code title={checksum}>
        {checksum.slice(0, 4)}…{checksum.slice(-4)}
      </code>{' '}
      <CopyButton text={checksum} what={`checksum of ${what}`} />
    </>
  )
}
