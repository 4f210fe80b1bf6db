import { addressOf } from '../../../../api/usage/usage.ts'
import { boot } from '../../api/boot.ts'
import type { ConsumerList } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number } from '../../parts/format.ts'
import { Void } from '../../parts/message.tsx'
import { NoMatchHere } from '../../parts/no-match.tsx'
import { Paged } from '../../parts/pagination.tsx'
import { nameOptions, Pick } from '../../parts/pick.tsx'
import { Region } from '../../parts/region.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Section } from '../../parts/section.tsx'
import { Lines } from '../../parts/skeleton.tsx'
import { Table } from '../../parts/table.tsx'
import { consumersUrl, resourceHref } from '../../url/pages.ts'
import type { ResourceChange, SectionProps } from '../section.ts'
import { ConsumerRow } from './row.tsx'

const clear = { u_q: '', u_version: '', u_state: '', u_page: 1 } as const

/** Consumers that downloaded a module in the last 90 days. Few people may read it, so others read how to get the right. */
export function UsedBy(props: SectionProps) {
  const { address, values } = props
  const query = useQuery<ConsumerList>(consumersUrl(address, values))
  return (
    <Section
      id="used-by"
      words="Used by"
      count={query.error === undefined ? (query.data?.totalCount ?? null) : null}
    >
      <Region
        query={query}
        what="The list of consumers"
        skeleton={<Lines count={8} />}
        resetHref={resourceHref(address, { tab: 'used-by' })}
      >
        {(data) => (data.consumers === 0 ? <Nobody /> : <Consumers {...props} data={data} />)}
      </Region>
    </Section>
  )
}

const Nobody = () => (
  <Void words="No consumer is known.">
    <p>
      In the last 90 days, no program or group that the registry counts has downloaded it. The
      operators of the registry choose the groups with <code>--consumer-groups</code>.
    </p>
  </Void>
)

interface Props extends SectionProps {
  readonly data: ConsumerList
}

function Consumers({ data, address, detail, values, change }: Props) {
  const filter: ResourceChange = (changed, how) => change({ ...changed, u_page: 1 }, how)
  const { registryHost } = boot
  const command = `depot consumers ${registryHost}/${addressOf({ ...detail, registryHost })} --outdated -o csv`
  return (
    <>
      <Figures data={data} />
      <div class="gap" />
      <search class="filters" aria-label="Filter consumers">
        <SearchField
          label="Search consumers"
          value={values.u_q}
          onSearch={(it) => filter({ u_q: it }, 'replace')}
        />
        <Pick
          label="Version used"
          value={values.u_version}
          options={nameOptions('Any version', versionsOf(data, detail))}
          names
          onChoose={(it) => filter({ u_version: it })}
        />
        <Pick
          label="State of consumers"
          value={values.u_state}
          options={[
            ['', 'Any state'],
            ['behind', 'Behind'],
            ['deprecated', 'Deprecated, withdrawn or gone'],
            ['critical', 'Critical findings'],
          ]}
          onChoose={(it) => filter({ u_state: it })}
        />
        <CopyButton text={command} what="command" look="words" />
      </search>
      <div class="gap" />
      <Paged
        what="consumers"
        of={data}
        hrefOf={(page) => resourceHref(address, { ...values, u_page: page })}
        onRows={(rows) => filter({ u_page_size: rows })}
        empty={<NoMatchHere onClear={() => change(clear)} />}
      >
        <Table label="Used by" look="stack docs" heads={heads}>
          {data.items.map((item) => (
            <ConsumerRow key={item.consumer} item={item} />
          ))}
        </Table>
      </Paged>
    </>
  )
}

const heads = [
  'Consumer',
  'Uses',
  { words: 'Behind', class: 'nowrap' },
  { words: 'Last seen', class: 'nowrap' },
]

const Figures = ({ data: { consumers, onLatest, troubled } }: Pick<Props, 'data'>) => (
  <dl class="figures three">
    <Figure words="consumers in 90 days" count={consumers} />
    <Figure words="on the latest version" count={onLatest} />
    <Figure
      words="on a version that is deprecated, withdrawn or gone, or has critical findings"
      count={troubled}
    />
  </dl>
)

const Figure = ({ words, count }: { readonly words: string; readonly count: number }) => (
  <div>
    <dt>{words}</dt>
    <dd>
      <b>{number(count)}</b>
    </dd>
  </div>
)

/** Versions to filter by: existing and former ones. */
const versionsOf = (data: ConsumerList, { versions }: SectionProps['detail']): string[] => [
  ...new Set([...versions, ...data.items.flatMap((item) => item.versions)].map((it) => it.version)),
]
