import { addressOf } from '../../../../api/usage/usage.ts'
import { boot } from '../../api/boot.ts'
import type { ConsumerList } from '../../api/records.ts'
import { useQuery } from '../../api/use-query.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { number, plural } from '../../parts/format.ts'
import { Icon } from '../../parts/icon.tsx'
import { NoMatchHere, Void } from '../../parts/message.tsx'
import { Paged } from '../../parts/pagination.tsx'
import { nameOptions, Pick } from '../../parts/pick.tsx'
import { StateMark } from '../../parts/reason-mark.tsx'
import { Region } from '../../parts/region.tsx'
import { SearchField } from '../../parts/search-field.tsx'
import { Section } from '../../parts/section.tsx'
import { SeverityCounts } from '../../parts/severity-counts.tsx'
import { Cell, RowHead, Table } from '../../parts/table.tsx'
import { consumersUrl, resourceHref } from '../../url/pages.ts'
import type { ResourceChange, SectionProps } from '../section.ts'

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
        skeleton={8}
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

type Consumer = ConsumerList['items'][number]

/** Number of versions of a consumer that are shown at first. Some use dozens. */
const atOnce = 5

/** A consumer, and each version that it downloaded. */
function ConsumerRow({ item }: { readonly item: Consumer }) {
  const { consumer, versions, behind, lastUsed } = item
  const { name, words, icon } = partsOf(consumer)
  const left = versions.slice(atOnce)
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="addr">
          <Icon name={icon} />
          <span>
            <bdi>
              <b>{name}</b>
            </bdi>
            <span class="kindly">{words}</span>
          </span>
        </span>
      </RowHead>
      <Cell label="Uses" class="full">
        <div class="uses">
          <Uses versions={versions.slice(0, atOnce)} lastUsed={lastUsed} />
          {left.length > 0 && (
            <details class="fold">
              <summary>
                <Icon name="right" />
                {plural(left.length, 'older version')}
              </summary>
              <Uses versions={left} lastUsed={lastUsed} />
            </details>
          )}
        </div>
      </Cell>
      <Cell label="Behind" class="nowrap">
        {behind === 0 ? <span class="quiet">Latest</span> : plural(behind, 'release')}
      </Cell>
      <Cell label="Last seen" class="nowrap">
        <time>{lastUsed}</time>
      </Cell>
    </tr>
  )
}

const Uses = ({ versions, lastUsed }: Pick<Consumer, 'versions' | 'lastUsed'>) => (
  <ul>
    {versions.map(({ version, days, state, critical, lastUsed: last }) => (
      <li key={version}>
        <code>{version}</code>
        {state !== undefined && <StateMark state={state} />}
        {critical !== undefined && <SeverityCounts counts={{ ...none, critical }} />}
        <span class="quiet">
          {plural(days, 'day')}
          {last !== lastUsed && `, last on ${last}`}
        </span>
      </li>
    ))}
  </ul>
)

const none = { high: 0, medium: 0, low: 0, unknown: 0 }

/** Words and icons of the kinds of consumers. */
const kinds: ReadonlyMap<string, readonly [words: string, icon: string]> = new Map([
  ['serviceaccount', ['service account', 'key']],
  ['client', ['program', 'key']],
  ['group', ['group', 'user']],
  ['person', ['person', 'user']],
])

function partsOf(consumer: string) {
  if (consumer === '(others)') {
    return { name: 'others', words: 'all after the first 1,000', icon: 'user' }
  }
  const [, prefix = '', rest = ''] = /^([^:]*):(.*)$/s.exec(consumer) ?? []
  const [words, icon] = kinds.get(prefix) ?? ['', 'user']
  return { name: words === '' ? consumer : rest, words, icon }
}
