import ipaddr from 'ipaddr.js'
import { messageOf } from '../../base/errors/errors.ts'
import type { EgressPolicy, EgressRequest } from './client.ts'
import { EgressError } from './errors.ts'
import { shownUrl } from './shown.ts'

/** Options name the host of a URL, or it has to be public. A named host may be private if its network is named, too. */
export type HostAccess = 'named' | 'public'

/** Decides which URLs may be requested. */
export type HostRules = ReturnType<typeof hostRules>

/** @throws Error for an entry that is not a host */
export function hostRules({ hosts, publicDownloads, plainOrigins }: EgressPolicy) {
  const named = new Set(hosts.map(keyOfEntry))
  const plain = new Set(plainOrigins)
  return {
    /** @throws EgressError Refused */
    accessTo(
      url: URL,
      {
        namedByUpstream = false,
        namedByOperator = false,
      }: Pick<EgressRequest, 'namedByUpstream' | 'namedByOperator'>,
    ): HostAccess {
      if (plain.has(url.origin)) return 'named'
      if (url.protocol !== 'https:') throw refused(url, 'only https is allowed')
      if (namedByOperator || named.has(keyOf(url))) return 'named'
      if (!namedByUpstream) {
        throw refused(url, `an operator can allow it with --egress-allow=${url.host}`)
      }
      if (publicDownloads) return 'public'
      throw refused(
        url,
        `an operator can allow it with --egress-allow=${url.host}, or --egress-public-downloads`,
      )
    },
    /** For metrics: the host, or `other` if no option names it. */
    labelOf: (url: URL): string => (named.has(keyOf(url)) ? url.host : 'other'),
  }
}

/** Why a resource may not name a URL; undefined if it may. Addresses are checked when it is requested. */
export function refusalOf(policy: EgressPolicy, text: string): string | undefined {
  const url = URL.parse(text)
  if (url === null) return undefined
  try {
    hostRules(policy).accessTo(url, {})
    return undefined
  } catch (error) {
    return messageOf(error)
  }
}

export function refused(url: URL, why: string): EgressError {
  return new EgressError('EgressRefused', `${shownUrl(url)} is refused: ${why}`)
}

/** The address in a URL without a host name, without brackets. */
export function literalOf(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(host) ? host : undefined
}

const keyOf = (url: URL): string =>
  `${url.hostname.replace(/\.$/, '')}:${url.port === '' ? '443' : url.port}`

function keyOfEntry(entry: string): string {
  const url = URL.parse(`https://${entry}`)
  const isHost = url !== null && !/[/?#@\\\s]/.test(entry) && url.hostname !== ''
  if (!isHost)
    throw new Error(`"${entry}" is not a host: write it as example.com or example.com:8443`)
  return keyOf(url)
}
