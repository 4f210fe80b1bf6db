import { useState } from 'preact/hooks'
import type { VersionPage } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { versionBefore } from '../../compare/chosen-pair.ts'
import { Hidden } from '../../parts/icon.tsx'
import { NoMatchHere, Void } from '../../parts/message.tsx'
import { Paged } from '../../parts/pagination.tsx'
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

const isFiltered = ({ v_q, v_synced, v_os, v_arch }: ResourceValues): boolean =>
  [v_q, v_synced, v_os, v_arch].some((it) => it !== '')

/** All versions, filtered and paged by the server. */
export function VersionsSection(props: SectionProps) {
  const { address, detail, values, change } = props
  const [opened, setOpened] = useState(false)
  const query = useQuery<VersionPage>(versionsUrl(address, values))
  const isProvider = detail.kind === 'provider'
  const filter: ResourceChange = (changed, how) => change({ ...changed, v_page: 1 }, how)
  return (
    <Section id="versions" words="Versions" count={query.data?.totalCount ?? null}>
      <search class="filters" aria-label="Filter versions">
        <Filters data={query.data} values={values} filter={filter} isProvider={isProvider} />
        {isProvider && (
          <button type="button" class="btn bare" onClick={() => setOpened(!opened)}>
            {opened ? 'Close all' : 'Open all'}
          </button>
        )}
        <button
          type="button"
          class="btn bare"
          aria-disabled={!isFiltered(values)}
          onClick={() => isFiltered(values) && change(clear)}
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
        {(data) => (
          <Paged
            what="versions"
            of={data}
            hrefOf={(page) => resourceHref(address, { ...values, v_page: page })}
            onRows={(rows) => filter({ v_page_size: rows })}
            empty={<Empty values={values} change={change} />}
          >
            <Versions {...props} data={data} opened={opened} />
          </Paged>
        )}
      </Region>
    </Section>
  )
}

interface FiltersProps extends Pick<SectionProps, 'values'> {
  readonly data: VersionPage | undefined
  readonly filter: ResourceChange
  readonly isProvider: boolean
}

const Filters = ({ data, values, filter, isProvider }: FiltersProps) => (
  <>
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
      onChoose={(it) => filter({ v_synced: it })}
    />
    {isProvider && (
      <>
        <Pick
          label="OS"
          value={values.v_os}
          options={nameOptions('Any OS', data?.availableOS ?? [])}
          onChoose={(it) => filter({ v_os: it })}
        />
        <Pick
          label="Arch"
          value={values.v_arch}
          options={nameOptions('Any arch', data?.availableArch ?? [])}
          onChoose={(it) => filter({ v_arch: it })}
        />
      </>
    )}
  </>
)

interface VersionsProps extends Omit<SectionProps, 'docs' | 'change'> {
  readonly data: VersionPage
  /** Whether the platforms of all versions are open. */
  readonly opened: boolean
}

function Versions({ data, address, detail, version, values, opened }: VersionsProps) {
  const isProvider = detail.kind === 'provider'
  return (
    <Table
      label="Versions"
      look="stack dense"
      heads={isProvider ? heads(true) : [...heads(false), compareHead]}
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
  )
}

const compareHead = { words: <Hidden>Compare</Hidden> }

const heads = (isProvider: boolean): (Head | string)[] => [
  'Version',
  isProvider ? 'Platforms' : 'Status',
  'Findings',
  { words: 'Downloads', class: 'num' },
  'Last download',
  ...(isProvider ? [] : [{ words: 'Size', class: 'num' }, 'SHA-256']),
]

const Empty = ({ values, change }: Pick<SectionProps, 'values' | 'change'>) =>
  isFiltered(values) ? (
    <NoMatchHere onClear={() => change(clear)} />
  ) : (
    <Void words="No version yet.">
      <p>Versions appear here once they are published.</p>
    </Void>
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
