import type { HeldBackItem, HeldBackList } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { AddressLink } from '../parts/address.tsx'
import { CodeBlock } from '../parts/code-block.tsx'
import { plural, sentence } from '../parts/format.ts'
import { NoMatch, Void } from '../parts/message.tsx'
import { Paged } from '../parts/pagination.tsx'
import { nameOptions, Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Count } from '../parts/section.tsx'
import { Cell, NumberCell, RowHead, Table } from '../parts/table.tsx'
import { TimeAgo } from '../parts/time-ago.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { navigate, type UrlChange } from '../url/navigate.ts'
import { type HeldBackValues, heldBackHref, heldBackParams, heldBackUrl } from '../url/pages.ts'
import { parse } from '../url/search-params.ts'

interface Props {
  readonly values: HeldBackValues
  readonly change: UrlChange<HeldBackValues>
}

/** Versions of upstreams that policies hold back: why, until when, and how often they were requested. */
export function HeldBackPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(heldBackParams, search)
  const query = useQuery<HeldBackList>(heldBackUrl(values))
  const change: Props['change'] = (changed, how) =>
    navigate(heldBackHref({ ...values, page: 1, ...changed }), how)
  return (
    <>
      <PageHead title="Held back">
        <Count>{query.data !== undefined && plural(query.data.totalCount, 'version')}</Count>
      </PageHead>
      <p class="quiet intro">
        New versions wait until they are old enough, so that a stolen release is found before it
        reaches you. Until then <code>init</code> installs the newest version that is not held.
      </p>
      <Filters depots={query.data?.depots ?? []} values={values} change={change} />
      <div class="gap" />
      <Region query={query} what="The held versions" skeleton={8} resetHref={heldBackHref()}>
        {(data) => <Rows data={data} values={values} change={change} />}
      </Region>
    </>
  )
}

const Filters = ({ depots, values, change }: Props & { readonly depots: readonly string[] }) => (
  <search class="filters" aria-label="Filter held versions">
    <SearchField
      label="Search address or version"
      value={values.q}
      main
      onSearch={(q) => change({ q }, 'replace')}
    />
    <Pick
      label="Why"
      value={values.why}
      options={[
        ['', 'Any reason'],
        ['TooYoung', 'Too young'],
        ['Denied', 'Denied'],
        ['Unsigned', 'No signature'],
        ['Breaking', 'Breaking change'],
        ['NotAllowed', 'Not allowed'],
        ['Refused', 'Refused by a rule'],
      ]}
      onChoose={(why) => change({ why: why })}
    />
    <Pick
      label="Depot"
      value={values.depot}
      options={nameOptions('All depots', depots)}
      names
      onChoose={(depot) => change({ depot })}
    />
    <Pick
      label="Sort"
      value={values.order}
      tinted={false}
      options={[
        ['asked', 'Most asked for'],
        ['free', 'Free soonest'],
        ['newest', 'Newest'],
      ]}
      onChoose={(order) => change({ order: order })}
    />
  </search>
)

const heads = [
  'Version',
  'Why, and what to do',
  { words: 'Free', class: 'nowrap' },
  { words: 'Asked for', class: 'num' },
]

const freed: Partial<Record<HeldBackItem['why'], string>> = {
  Unsigned: 'when it is signed',
  Breaking: 'when it is accepted',
}

const Rows = ({ data, values, change }: Props & { readonly data: HeldBackList }) => (
  <Paged
    what="versions"
    of={data}
    hrefOf={(page) => heldBackHref({ ...values, page })}
    onRows={(rows) => change({ page_size: rows })}
    empty={<Nothing values={values} />}
  >
    <Table label="Held back" look="stack held-back" heads={heads}>
      {data.items.map((item) => (
        <Row key={`${item.namespace} ${item.kind} ${item.name} ${item.version}`} item={item} />
      ))}
    </Table>
    {data.unlisted > 0 && (
      <p class="quiet">
        {plural(data.unlisted, 'more version')} held. The list does not show them.
      </p>
    )}
  </Paged>
)

function Nothing({ values: { q, why, depot } }: { readonly values: HeldBackValues }) {
  return q === '' && why === '' && depot === '' ? (
    <Void words="Nothing is held back." isPage />
  ) : (
    <NoMatch clearHref={heldBackHref()} />
  )
}

function Row({ item }: { readonly item: HeldBackItem }) {
  const { why, version, address, publishedAt, until, askedFor, message, except } = item
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="held">
          <AddressLink of={item} />
          <code>{version}</code>
        </span>
      </RowHead>
      <Cell class="full what">
        {sentence(message)}
        {publishedAt !== undefined && (
          <p class="quiet">
            Published <TimeAgo at={publishedAt} />, said by {address.split('/')[0]}.
          </p>
        )}
        {except !== undefined && (
          <details>
            <summary>For those who may change the Depot</summary>
            <p class="quiet">Replace WHY and WHO. In the file of the Depot:</p>
            <CodeBlock text={except.manifest} what={`lines that except ${version}`} />
            <p class="quiet">Or in a cluster:</p>
            <CodeBlock text={except.command} what={`command that excepts ${version}`} />
          </details>
        )}
      </Cell>
      <Cell label="Free" class="nowrap">
        {until === undefined ? (
          <span class="quiet">{freed[why] ?? 'when the policy allows it'}</span>
        ) : (
          <TimeAgo at={until} />
        )}
      </Cell>
      <NumberCell label="Asked for" value={askedFor} />
    </tr>
  )
}
