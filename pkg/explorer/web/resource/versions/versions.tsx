import { boot } from '../../api/boot.ts'
import type { VersionItem, VersionPage } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { SyncChip } from '../../parts/badge.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { bytes, number } from '../../parts/format.ts'
import { Pagination } from '../../parts/pagination.tsx'
import { nameOptions, Pick } from '../../parts/pick.tsx'
import { Region } from '../../parts/region.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { SeverityCounts } from '../../parts/severity-counts.tsx'
import { Bone } from '../../parts/skeleton.tsx'
import { Cell, type Head, None, RowHead, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import {
  type PageAddress,
  type ResourceValues,
  resourceHref,
  versionsUrl,
} from '../../url/pages.ts'
import type { ResourceChange, SectionProps } from '../page.tsx'

const clear = { v_q: '', v_synced: '', v_os: '', v_arch: '', v_page: 1 } as const

/** All archives of all versions, filtered and paged by the server. */
export function VersionsSection({ address, detail, values, change }: SectionProps) {
  const query = useQuery<VersionPage>(versionsUrl(address, values))
  const isProvider = detail.kind === 'provider'
  const filtered = [values.v_q, values.v_synced, values.v_os, values.v_arch].some((it) => it !== '')
  const filter: ResourceChange = (changed, how) => change({ ...changed, v_page: 1 }, how)
  return (
    <section class="sec" aria-labelledby="versions">
      <header>
        <h2 id="versions">Versions</h2>
        <span class="quiet num" role="status">
          {query.data !== undefined && number(query.data.totalCount)}
        </span>
      </header>
      <search class="filters" aria-label="Filter versions">
        <SearchField
          label="Search versions"
          value={values.v_q}
          onSearch={(it) => filter({ v_q: it }, 'replace')}
        />
        <Pick
          label="Sync status"
          value={values.v_synced}
          options={[
            ['', 'All'],
            ['true', 'Synced'],
            ['false', 'Failed'],
          ]}
          onChoose={(it) => filter({ v_synced: it as ResourceValues['v_synced'] })}
        />
        {isProvider && (
          <>
            <Pick
              label="OS"
              value={values.v_os}
              options={nameOptions('Any OS', query.data?.availableOS ?? [])}
              onChoose={(it) => filter({ v_os: it })}
            />
            <Pick
              label="Arch"
              value={values.v_arch}
              options={nameOptions('Any arch', query.data?.availableArch ?? [])}
              onChoose={(it) => filter({ v_arch: it })}
            />
          </>
        )}
        <button
          type="button"
          class="btn bare"
          aria-disabled={!filtered}
          onClick={() => filtered && change(clear)}
        >
          Clear
        </button>
      </search>
      <div class="gap" />
      <Region
        query={query}
        what="The versions"
        skeleton={<Skeleton isProvider={isProvider} />}
        resetHref={resourceHref(address)}
      >
        {(data) =>
          data.items.length === 0 ? (
            <Empty filtered={filtered} change={change} />
          ) : (
            <>
              <Table label="Versions" look="stack dense" heads={heads(isProvider)}>
                {data.items.map((row, at) => (
                  <Row
                    key={`${row.version} ${row.os} ${row.arch}`}
                    row={row}
                    address={address}
                    values={values}
                    repeated={data.items[at - 1]?.version === row.version}
                    chosen={row.version === (values.version || detail.latestVersion)}
                  />
                ))}
              </Table>
              <Pagination
                what="versions"
                page={data.page}
                pageSize={data.pageSize}
                total={data.totalCount}
                hrefOf={(page) => resourceHref(address, { ...values, v_page: page })}
                onRows={(rows) => filter({ v_page_size: rows })}
              />
            </>
          )
        }
      </Region>
    </section>
  )
}

const heads = (isProvider: boolean): Head[] => [
  { words: 'Version' },
  ...(isProvider ? [{ words: 'Platform' }] : []),
  { words: 'Status' },
  { words: 'Findings' },
  { words: 'Downloads', class: 'num' },
  { words: 'Last download' },
  { words: 'Size', class: 'num' },
  { words: 'SHA-256' },
]

interface RowProps {
  readonly row: VersionItem
  readonly address: PageAddress
  readonly values: ResourceValues
  /** Whether the row above has the same version. */
  readonly repeated: boolean
  /** Whether the usage block shows this version. */
  readonly chosen: boolean
}

function Row({ row, address, values, repeated, chosen }: RowProps) {
  const { version, os, arch, checksum = '', archiveSizeBytes, lastDownloadedAt } = row
  const isFailed = /fail|error/i.test(row.syncStatus ?? '')
  const empty = 'nil-cell'
  return (
    <tr role="row" class={chosen ? 'on' : undefined}>
      <RowHead class="nowrap">
        <a
          class={repeated ? 'same' : 'version'}
          href={resourceHref(address, { ...values, version })}
          aria-current={chosen ? 'true' : undefined}
          title={`Use ${version}`}
          data-keep
        >
          <code>{version}</code>
        </a>
        {!repeated && (
          <CopyButton
            text={boot.baseUrl + resourceHref(address, { version })}
            what={`link to ${version}`}
            icon="link"
          />
        )}
      </RowHead>
      {os !== undefined && (
        <Cell label="Platform" class="nowrap">
          <code>
            {os}/{arch}
          </code>
        </Cell>
      )}
      <Cell class="nowrap">
        <span title={row.synced ? undefined : row.syncStatus}>
          <SyncChip synced={row.synced} failed={isFailed} />
        </span>
      </Cell>
      <Cell class="full">
        <SeverityCounts counts={row.scanCounts} slots />
      </Cell>
      <Cell label="Downloads" class="num">
        {number(row.downloadCount ?? 0)}
      </Cell>
      <Cell label="Last" class="nowrap">
        <TimeAgo at={lastDownloadedAt} />
      </Cell>
      <Cell label="Size" class={archiveSizeBytes === undefined ? `num ${empty}` : 'num'}>
        {archiveSizeBytes === undefined ? <None /> : bytes(archiveSizeBytes)}
      </Cell>
      <Cell class={checksum === '' ? empty : undefined}>
        {checksum === '' ? (
          <None />
        ) : (
          <span class="nowrap">
            <code title={checksum}>
              {checksum.slice(0, 4)}…{checksum.slice(-4)}
            </code>{' '}
            <CopyButton text={checksum} what={`checksum of ${nameOf(row)}`} />
          </span>
        )}
      </Cell>
    </tr>
  )
}

const nameOf = ({ version, os, arch }: VersionItem): string =>
  os === undefined ? version : `${version} for ${os}/${arch}`

const Empty = ({
  filtered,
  change,
}: {
  readonly filtered: boolean
  readonly change: ResourceChange
}) =>
  filtered ? (
    <div class="void">
      <h3>No versions match the current filters.</h3>
      <button type="button" class="btn" onClick={() => change(clear)}>
        Clear
      </button>
    </div>
  ) : (
    <div class="void">
      <h3>No version yet.</h3>
      <p>Versions appear here once they are published.</p>
    </div>
  )

const Skeleton = ({ isProvider }: { readonly isProvider: boolean }) => (
  <Table label="Versions, loading" look="stack dense" heads={heads(isProvider)} busy>
    {Array.from({ length: 10 }, (_, at) => (
      <tr key={at} role="row">
        {heads(isProvider).map((_head, cell) => (
          <Cell key={cell}>
            <Bone width={cell === 3 ? 'w3' : 'w2'} />
          </Cell>
        ))}
      </tr>
    ))}
  </Table>
)
