import type { BrowseConflict, ConflictList } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { plural, sentence } from '../parts/format.ts'
import { Hidden, Icon, kindIcon } from '../parts/icon.tsx'
import { NoMatch, Void } from '../parts/message.tsx'
import { NamespacePick } from '../parts/namespace-pick.tsx'
import { Paged } from '../parts/pagination.tsx'
import { Pick } from '../parts/pick.tsx'
import { reasons, reasonWords } from '../parts/reasons.ts'
import { Region } from '../parts/region.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { Count, Section } from '../parts/section.tsx'
import { Cell, RowHead, Table } from '../parts/table.tsx'
import { PageHead } from '../shell/page-head.tsx'
import { navigate, type UrlChange } from '../url/navigate.ts'
import {
  type ConflictsValues,
  conflictsHref,
  conflictsParams,
  conflictsUrl,
  resourceHref,
} from '../url/pages.ts'
import { parse } from '../url/search-params.ts'

interface Props {
  readonly values: ConflictsValues
  readonly change: UrlChange<ConflictsValues>
}

/** Known objects that are not served, by reason, with the object that is served instead. */
export function ConflictsPage({ search }: { readonly search: URLSearchParams }) {
  const values = parse(conflictsParams, search)
  const query = useQuery<ConflictList>(conflictsUrl(values))
  const change: Props['change'] = (changed, how) =>
    navigate(conflictsHref({ ...values, page: 1, ...changed }), how)
  return (
    <>
      <PageHead title="Conflicts">
        <Count>{query.data !== undefined && countOf(query.data)}</Count>
      </PageHead>
      <p class="quiet intro">
        Two objects claim one address, or an object is incomplete. The object that was first is
        served, so nothing changes for those who use it.
      </p>
      <Filters values={values} change={change} />
      <Region query={query} what="The conflicts" skeleton={8} resetHref={conflictsHref()}>
        {(data) => <Groups data={data} values={values} change={change} />}
      </Region>
    </>
  )
}

const countOf = ({ totalCount }: ConflictList): string =>
  `${plural(totalCount, 'object is', 'objects are')} known and not served`

const Filters = ({ values, change }: Props) => (
  <search class="filters" aria-label="Filter conflicts">
    <SearchField
      label="Search address or object"
      value={values.q}
      main
      onSearch={(q) => change({ q }, 'replace')}
    />
    <Pick
      label="Reason"
      value={values.reason}
      options={[
        ['', 'Any reason'],
        ...reasons.map((reason) => [reason, reasonWords[reason].words] as const),
      ]}
      onChoose={(reason) => change({ reason: reason })}
    />
    <NamespacePick value={values.namespace} onChoose={(namespace) => change({ namespace })} />
  </search>
)

function Groups({ data, values, change }: Props & { readonly data: ConflictList }) {
  const [first] = data.items
  return (
    <>
      <Paged
        what="conflicts"
        of={data}
        hrefOf={(page) => conflictsHref({ ...values, page })}
        onRows={(rows) => change({ page_size: rows })}
        empty={<Nothing values={values} />}
      >
        {[...Map.groupBy(data.items, ({ reason }) => reason)].map(([reason, items]) => (
          <Section
            key={reason}
            id={reason}
            {...reasonWords[reason]}
            total={data.counts.find((it) => it.reason === reason)?.count ?? items.length}
          >
            <Table label={reasonWords[reason].words} look="stack conflicts" heads={heads}>
              {items.map((item) => (
                <Row key={`${item.namespace} ${item.kind} ${item.name}`} item={item} />
              ))}
            </Table>
          </Section>
        ))}
      </Paged>
      {first?.address !== undefined && (
        <p class="foot">
          <span>
            The same from a shell:{' '}
            <code>
              depot explain {first.namespace}/{first.address} {first.version}
            </code>
          </span>
        </p>
      )}
    </>
  )
}

const Nothing = ({ values }: { readonly values: ConflictsValues }) =>
  values.q === '' && values.reason === '' && values.namespace === '' ? (
    <Void words="Nothing is in conflict." isPage>
      <p>Everything that you can see is served under its own address.</p>
    </Void>
  ) : (
    <NoMatch clearHref={conflictsHref()} />
  )

const heads = ['Address', 'Served', 'Not served', 'Why, and what to do']

function Row({ item }: { readonly item: BrowseConflict }) {
  const { kind, namespace, name, resource, address, version, os, arch, servedInstead } = item
  return (
    <tr role="row">
      <RowHead class="full">
        <span class="held">
          <span class="addr">
            <Icon name={kindIcon(kind)} />
            <span>
              <Hidden>{kind === 'provider' ? 'Provider' : 'Module'} </Hidden>
              <span class="ns">
                {namespace}/<wbr />
              </span>
              {resource === undefined ? (
                <span class="quiet">no {kind}</span>
              ) : (
                <a href={resourceHref({ namespace, kind, name: resource })}>
                  <b>{address ?? resource}</b>
                </a>
              )}
            </span>
          </span>
          <code>{[version ?? 'all versions', ...(os ? [`${os}/${arch}`] : [])].join(' ')}</code>
        </span>
      </RowHead>
      <Cell label="Served" class="full">
        {servedInstead === undefined ? (
          <span class="quiet">Nothing</span>
        ) : (
          <ObjectName icon="check" tone="c-ok" words={`${namespace}/${servedInstead}`} />
        )}
      </Cell>
      <Cell label="Not served" class="full">
        <ObjectName icon="minus" tone="quiet" words={`${namespace}/${name}`} />
      </Cell>
      <Cell class="full what">{sentence(item.message)}</Cell>
    </tr>
  )
}

const ObjectName = (props: { readonly icon: string; tone: string; words: string }) => (
  <span class="object">
    <Icon name={props.icon} tone={props.tone} />
    <code>{props.words}</code>
  </span>
)
