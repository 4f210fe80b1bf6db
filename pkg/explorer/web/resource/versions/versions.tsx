import { useState } from 'preact/hooks'
import type { VersionPage } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { versionBefore } from '../../compare/chosen-pair.ts'
import { Hidden } from '../../parts/icon.tsx'
import { NoMatchHere } from '../../parts/no-match.tsx'
import { Pagination, PastEnd } from '../../parts/pagination.tsx'
import { nameOptions, Pick } from '../../parts/pick.tsx'
import { Region } from '../../parts/region.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Section } from '../../parts/section.tsx'
import { Bone } from '../../parts/skeleton.tsx'
import { Cell, type Head, Table } from '../../parts/table.tsx'
import { type ResourceValues, resourceHref, versionsUrl } from '../../url/pages.ts'
import type { ResourceChange, SectionProps } from '../section.ts'
import { groupsOf } from './groups.ts'
import { VersionRow } from './row.tsx'

const clear = { v_q: '', v_synced: '', v_os: '', v_arch: '', v_page: 1 } as const

/** All versions, filtered and paged by the server. */
export function VersionsSection({ address, detail, version, values, change }: SectionProps) {
  const [opened, setOpened] = useState(false)
  const query = useQuery<VersionPage>(versionsUrl(address, values))
  const isProvider = detail.kind === 'provider'
  const filtered = [values.v_q, values.v_synced, values.v_os, values.v_arch].some((it) => it !== '')
  const hrefOf = (page: number): string => resourceHref(address, { ...values, v_page: page })
  const filter: ResourceChange = (changed, how) => change({ ...changed, v_page: 1 }, how)
  return (
    <Section id="versions" words="Versions" count={query.data?.totalCount ?? null}>
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
        {isProvider && (
          <button type="button" class="btn bare" onClick={() => setOpened(!opened)}>
            {opened ? 'Close all' : 'Open all'}
          </button>
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
          data.totalCount === 0 ? (
            <Empty filtered={filtered} change={change} />
          ) : data.items.length === 0 ? (
            <PastEnd of={data} hrefOf={hrefOf} />
          ) : (
            <>
              <Table
                label="Versions"
                look="stack dense"
                heads={[...heads(isProvider), ...(isProvider ? [] : [compareHead])]}
              >
                {groupsOf(data).map((group) => (
                  <VersionRow
                    key={`${group.version} ${opened}`}
                    group={group}
                    address={address}
                    values={values}
                    previous={detail.hasDocs && versionBefore(detail.versions, group.version)}
                    isLatest={group.version === detail.latestVersion}
                    state={detail.versions.find((it) => it.version === group.version)?.state}
                    isShown={group.version === version.shown}
                    isOpen={opened || (group.version === version.shown && group.failed > 0)}
                  />
                ))}
              </Table>
              <Pagination
                what="versions"
                of={data}
                hrefOf={hrefOf}
                onRows={(rows) => filter({ v_page_size: rows })}
              />
            </>
          )
        }
      </Region>
    </Section>
  )
}

const compareHead = { words: <Hidden>Compare</Hidden> }

const heads = (isProvider: boolean): Head[] => [
  { words: 'Version' },
  { words: isProvider ? 'Platforms' : 'Status' },
  { words: 'Findings' },
  { words: 'Downloads', class: 'num' },
  { words: 'Last download' },
  ...(isProvider ? [] : [{ words: 'Size', class: 'num' }, { words: 'SHA-256' }]),
]

const Empty = ({
  filtered,
  change,
}: {
  readonly filtered: boolean
  readonly change: ResourceChange
}) =>
  filtered ? (
    <NoMatchHere onClear={() => change(clear)} />
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
