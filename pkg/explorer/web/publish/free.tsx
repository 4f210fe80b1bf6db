import type { BrowseApiError } from '../api/client.ts'
import type { Explanation, ResourceDetail } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Icon } from '../parts/icon.tsx'
import { detailUrl, explainUrl, type PublishValues } from '../url/pages.ts'
import { addressIn, type Mistake } from './address.ts'

/** State of an address in the registry. */
interface AtAddress {
  readonly address: string | undefined
  readonly version: string
  /** metadata.name of the Module or Provider. */
  readonly object: string | undefined
  readonly latest: string | undefined
  readonly isTaken: boolean
  readonly isLoading: boolean
  readonly error: BrowseApiError | undefined
}

const absent = 404

/** Asks whether an address exists, and whether the version does. */
export function useAddress(values: PublishValues): AtAddress {
  const address = addressIn(values)
  const { kind, namespace, version } = values
  const explained = useQuery<Explanation>(address && explainUrl(address, version))
  const isCurrent = address !== undefined && !explained.previous
  const data = isCurrent && explained.error === undefined ? explained.data : undefined
  const claims = data?.claims.filter((it) => it.kind === kind) ?? []
  const claim = claims.find(({ reason }) => reason === undefined) ?? claims[0]
  const detail = useQuery<ResourceDetail>(
    claim && detailUrl({ namespace, kind, name: claim.name }, ''),
  )
  const isDetailed = claim !== undefined && !detail.previous
  const { error } = explained
  return {
    address,
    version,
    object: claim?.name,
    latest: isDetailed ? detail.data?.latestVersion : undefined,
    isTaken: data?.versions !== undefined && data.versions.length > 0,
    isLoading:
      (address !== undefined && data === undefined && error === undefined) ||
      (claim !== undefined && detail.fetching && detail.data === undefined),
    error: isCurrent && error?.status !== absent ? error : undefined,
  }
}

interface Props {
  /** As typed, which is ahead of what was asked for. */
  readonly values: PublishValues
  readonly mistake: Mistake | undefined
  readonly found: AtAddress
}

/** Whether the number is free, or what to correct. */
export function Free(props: Props) {
  const { tone, icon, words } = sayingOf(props)
  return (
    <div class={`note ${tone}`} id="publish-note" role="status">
      <Icon name={icon} tone={icon === 'check' ? 'c-ok' : ''} />
      <p>{words}</p>
    </div>
  )
}

function sayingOf({ values, mistake, found }: Props) {
  const { kind, version } = values
  const address = <code>{found.address}</code>
  const say = (tone: string, icon: string, words: preact.ComponentChildren) => ({
    tone,
    icon,
    words,
  })
  if (mistake !== undefined) return say('fail', 'fail', mistake.words)
  if (addressIn(values) === undefined) {
    const fields = kind === 'module' ? 'a name and a system' : 'a name'
    return say('', 'publish', `Type ${fields}. The commands below follow.`)
  }
  // The registry is asked when typing pauses.
  const isAsked = found.address === addressIn(values) && found.version === version
  if (!isAsked || found.isLoading) {
    return say(
      '',
      'wait',
      <>
        Looking for <code>{addressIn(values)}</code>.
      </>,
    )
  }
  if (found.error !== undefined) {
    return say('warn', 'warn', `The registry did not say whether it exists: ${found.error.message}`)
  }
  if (found.object === undefined) {
    return say(
      '',
      'plus',
      <>
        {address} does not exist, or you may not see it. A Depot creates it, and so does the
        manifest below. Pushing needs one of them first.
      </>,
    )
  }
  const number = version.replace(/^v/, '')
  if (found.isTaken) {
    return say(
      'warn',
      'warn',
      <>
        <code>{number}</code> of {address} exists. What was published does not change, so take
        another number.
      </>,
    )
  }
  const latest =
    found.latest === undefined ? (
      'without a version'
    ) : (
      <>
        latest is <code>{found.latest}</code>
      </>
    )
  return say(
    '',
    'check',
    <>
      {address} exists, {latest}.{' '}
      {number === '' ? (
        'Type a version to see whether it is free.'
      ) : (
        <>
          <code>{number}</code> is free.
        </>
      )}
    </>,
  )
}
