import type { BrowseApiError } from '../api/client.ts'
import type { Explanation, ResourceDetail } from '../api/records.ts'
import { useQuery } from '../api/use-query.ts'
import { Note } from '../parts/message.tsx'
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
  /** As typed, which may be newer than the last request. */
  readonly values: PublishValues
  readonly mistake: Mistake | undefined
  readonly found: AtAddress
}

/** Whether the number is free, or what to correct. */
export function Free(props: Props) {
  const { tone, icon, words } = sayingOf(props)
  return (
    <Note tone={tone} icon={icon} id="publish-note">
      {words}
    </Note>
  )
}

interface Saying {
  readonly tone?: 'warn' | 'fail' | 'good'
  readonly icon: string
  readonly words: preact.ComponentChildren
}

function sayingOf({ values, mistake, found }: Props): Saying {
  const { kind, version } = values
  if (mistake !== undefined) return { tone: 'fail', icon: 'fail', words: mistake.words }
  const address = addressIn(values)
  if (address === undefined) {
    const fields = kind === 'module' ? 'a name and a system' : 'a name'
    return { icon: 'publish', words: `Type ${fields}. The commands below follow.` }
  }
  // The registry is asked when the person stops typing.
  const isAsked = found.address === address && found.version === version
  if (isAsked && !found.isLoading) return answerOf(found)
  const words = (
    <>
      Looking for <code>{address}</code>.
    </>
  )
  return { icon: 'wait', words }
}

/** Answer of the registry about the address and the version. */
function answerOf({ address, version, object, latest, isTaken, error }: AtAddress): Saying {
  if (error !== undefined) {
    const words = `The registry did not say whether it exists: ${error.message}`
    return { tone: 'warn', icon: 'warn', words }
  }
  if (object === undefined) {
    const words = (
      <>
        <code>{address}</code> does not exist, or you may not see it. A Depot creates it, and so
        does the manifest below. Pushing needs one of them first.
      </>
    )
    return { icon: 'plus', words }
  }
  const number = version.replace(/^v/, '')
  if (isTaken) {
    const words = (
      <>
        <code>{number}</code> of <code>{address}</code> exists. Published versions never change, so
        choose another number.
      </>
    )
    return { tone: 'warn', icon: 'warn', words }
  }
  const words = (
    <>
      <code>{address}</code> exists, {latest === undefined ? 'without a version' : 'latest is '}
      {latest !== undefined && <code>{latest}</code>}. {number !== '' && <code>{number}</code>}
      {number === '' ? 'Type a version to see whether it is free.' : ' is free.'}
    </>
  )
  return { tone: 'good', icon: 'check', words }
}
