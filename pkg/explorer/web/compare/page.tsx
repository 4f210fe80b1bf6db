import { comparisonMarkdown } from '../../../api/changes/changes.ts'
import type {
  ConsumerList,
  ModuleComparison,
  PublishRights,
  ResourceDetail,
} from '../api/records.ts'
import { type Query, useQuery } from '../api/use-query.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Crumb } from '../parts/crumb.tsx'
import { number, plural, sentence } from '../parts/format.ts'
import { Hidden, Icon } from '../parts/icon.tsx'
import { Note, Void } from '../parts/message.tsx'
import { Pick } from '../parts/pick.tsx'
import { Region } from '../parts/region.tsx'
import { numberWords } from '../resource/version-pick.tsx'
import { useTitle } from '../shell/page-head.tsx'
import { navigate } from '../url/navigate.ts'
import {
  compareHref,
  comparisonUrl,
  consumersUrl,
  detailUrl,
  type PageAddress,
  publishRightsUrl,
  resourceHref,
  type VersionRange,
} from '../url/pages.ts'
import { Changes } from './changes.tsx'
import { type ChosenPair, chosenPair } from './chosen-pair.ts'
import { groupsOf, verdictOf } from './groups.ts'

interface Props {
  readonly address: PageAddress
  readonly range: VersionRange
}

/** The changes between two versions of a module, and whether they break its callers. */
export function ComparePage({ address, range }: Props) {
  const query = useQuery<ResourceDetail>(detailUrl(address, ''))
  const pair = query.data && chosenPair(query.data, range)
  const isAsked = pair !== undefined && pair.unknown.length === 0 && pair.from !== pair.to
  const comparison = useQuery<ModuleComparison>(isAsked ? comparisonUrl(address, pair) : undefined)
  useTitle(`Compare ${address.name}`, address.namespace)
  return (
    <>
      <Crumb namespace={address.namespace}>
        <a href={resourceHref(address)}>{address.name}</a>
      </Crumb>
      <div class="page-head compare-head">
        <div class="title">
          <Icon name="compare" tone="quiet" />
          <h1 tabIndex={-1}>
            <Hidden>Compare {address.name} </Hidden>
            {pair === undefined ? (
              <span aria-hidden="true">{address.name}</span>
            ) : (
              <Pair {...pair} />
            )}
          </h1>
        </div>
        {query.data !== undefined && pair !== undefined && (
          <Picks address={address} detail={query.data} pair={pair} compared={comparison.data} />
        )}
      </div>
      <Region query={query} what={address.name} skeleton={8}>
        {(detail) =>
          pair === undefined ? (
            <TooFew address={address} detail={detail} />
          ) : (
            <Comparison address={address} pair={pair} query={comparison} />
          )
        }
      </Region>
    </>
  )
}

const Pair = ({ from, to }: VersionRange) => (
  <>
    {from}{' '}
    <span class="quiet" aria-hidden="true">
      …
    </span>
    <Hidden>with</Hidden> {to}
  </>
)

interface PicksProps {
  readonly address: PageAddress
  readonly detail: ResourceDetail
  readonly pair: ChosenPair
  /** Undefined while it is unknown, and if there is none. */
  readonly compared: ModuleComparison | undefined
}

/** Chooses the versions. This changes the URL and keeps the page. */
function Picks({ address, detail, pair, compared }: PicksProps) {
  const options = detail.versions.map(
    ({ version }) => [version, numberWords(version, detail)] as const,
  )
  const choose = (chosen: Partial<VersionRange>) =>
    navigate(compareHref(address, { ...pair, ...chosen }))
  return (
    <div class="end">
      <Pick
        label="From version"
        names
        tinted={false}
        value={pair.from}
        options={options}
        onChoose={(from) => choose({ from })}
      />
      <span class="quiet" aria-hidden="true">
        …
      </span>
      <Pick
        label="To version"
        names
        tinted={false}
        value={pair.to}
        options={options}
        onChoose={(to) => choose({ to })}
      />
      {compared !== undefined && (
        <CopyButton
          text={() =>
            comparisonMarkdown({
              ...compared,
              from: `${address.namespace}/${address.name} ${compared.from}`,
            })
          }
          what="as Markdown"
          look="words"
        />
      )}
    </div>
  )
}

function TooFew({ address, detail: { versions } }: Omit<PicksProps, 'pair' | 'compared'>) {
  const [only] = versions
  return (
    <Void words="Nothing to compare yet." isPage>
      <p>
        {only === undefined
          ? 'This module has no version.'
          : `${only.version} is its only version.`}
      </p>
      <a class="btn" href={resourceHref(address)}>
        Back to {address.name}
      </a>
    </Void>
  )
}

interface ComparisonProps {
  readonly address: PageAddress
  readonly pair: ChosenPair
  readonly query: Query<ModuleComparison>
}

function Comparison({ address, pair: { from, to, unknown }, query }: ComparisonProps) {
  if (unknown.length > 0) {
    return (
      <Warning>
        There is no version {unknown.join(', and no version ')}. Choose another one.
      </Warning>
    )
  }
  if (from === to)
    return <Warning>Both versions are {to}, so nothing changed. Choose another one.</Warning>
  if (query.error?.status === 404) return <Warning>{sentence(query.error.message)}</Warning>
  return (
    <Region query={query} what="The comparison" skeleton={8}>
      {(data) => <Compared address={address} data={data} />}
    </Region>
  )
}

const Warning = ({ children }: { readonly children: preact.ComponentChildren }) => (
  <Note tone="warn" icon="warn">
    {children}
  </Note>
)

interface ComparedProps {
  readonly address: PageAddress
  readonly data: ModuleComparison
}

function Compared({ address, data }: ComparedProps) {
  const { tone, title, promise } = verdictOf(data)
  const groups = groupsOf(data)
  return (
    <>
      <section class={`verdict ${tone}`} aria-labelledby="verdict">
        <Icon name={tone === 'quiet' ? 'check' : 'warn'} />
        <div role="status">
          <h2 id="verdict">{title}</h2>
          {promise !== '' && <p>{promise}</p>}
          <UsersOf address={address} version={data.from} />
          {data.readme === 'changed' && (
            <p>
              The <a href={resourceHref(address, { version: data.to })}>README</a> changed.
            </p>
          )}
        </div>
      </section>
      {groups.length > 1 && (
        <ul class="jump">
          {groups.map(({ id, words, changes }) => (
            <li key={id}>
              <a href={`#${id}`}>
                <b class="num">{number(changes.length)}</b> {words}
              </a>
            </li>
          ))}
        </ul>
      )}
      {groups.map((group) => (
        <Changes key={group.id} group={group} range={data} />
      ))}
    </>
  )
}

/** The consumers that still use a version, for callers who may publish the module. */
function UsersOf({
  address,
  version,
}: {
  readonly address: PageAddress
  readonly version: string
}) {
  const rights = useQuery<PublishRights>(publishRightsUrl)
  const isWriter = rights.data?.items.some(({ namespace }) => namespace === address.namespace)
  const { data, error } = useQuery<ConsumerList>(
    isWriter ? consumersUrl(address, { u_version: version }) : undefined,
  )
  if (data === undefined || error !== undefined || data.consumers === 0) return null
  return (
    <p>
      {plural(data.consumers, 'consumer uses', 'consumers use')} this module,{' '}
      {data.totalCount === 0 ? 'none' : number(data.totalCount)} of them {version}.{' '}
      <a href={resourceHref(address, { tab: 'used-by', u_version: version })}>Used by</a>
    </p>
  )
}
