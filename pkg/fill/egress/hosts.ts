/** Hosts and addresses that may be asked, and URLs as messages show them. */

import ipaddr from 'ipaddr.js'
import { messageOf, printable } from '../../base/errors/errors.ts'
import { saidBy } from '../../base/http/http.ts'
import { EgressError, type EgressPolicy, type EgressRequest } from './client.ts'

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

/** Private networks in which a host can be that a person names on a command line. */
export const localNetworks = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '::1/128',
  'fc00::/7',
]

/** Decides which addresses Depot may connect to. */
export type AddressRules = ReturnType<typeof addressRules>

/**
 * Allows public unicast addresses, and addresses in the given private networks.
 *
 * @param privateNetworks in CIDR notation, such as `10.0.0.0/8`
 * @throws Error for an invalid network
 */
export function addressRules(privateNetworks: readonly string[]) {
  const networks = privateNetworks.map((network) => {
    if (ipaddr.isValidCIDR(network)) return ipaddr.parseCIDR(network)
    throw new Error(`"${network}" is not a network: write it as 10.0.0.0/8 or fd00::/8`)
  })
  return {
    /**
     * Explains why an address is refused; undefined if it is allowed.
     *
     * @param named whether an option names the host: then its address may be in a private network that an option names
     */
    refusal(text: string, named: boolean): string | undefined {
      if (!ipaddr.isValid(text)) return 'is not an IP address'
      const address = ipaddr.process(text)
      if (isPublic(address)) return undefined
      if (named && networks.some((network) => isIn(address, network))) return undefined
      return `is not public (${address.range()})`
    },
  }
}

type Address = ipaddr.IPv4 | ipaddr.IPv6

function isIn(address: Address, [network, bits]: [Address, number]): boolean {
  if (address instanceof ipaddr.IPv4) {
    return network instanceof ipaddr.IPv4 && address.match(network, bits)
  }
  return network instanceof ipaddr.IPv6 && address.match(network, bits)
}

/** `unicast` means that no special purpose is known; of IPv6 only 2000::/3 is assigned. */
function isPublic(address: Address): boolean {
  if (address.range() !== 'unicast') return false
  return address instanceof ipaddr.IPv4 || address.match(globalUnicast)
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** A URL without its query, fragment and userinfo. */
export function shownUrl(url: URL | string): string {
  const parsed = typeof url === 'string' ? URL.parse(url) : url
  if (parsed === null) return 'a URL that cannot be read'
  return printable(`${parsed.protocol}//${parsed.host}${parsed.pathname}`)
}

/** Says what a host answered, in its own words. */
export function refusalText(url: URL, status: number, body: Buffer): string {
  const said = saidBy(body.subarray(0, maxSaidBytes).toString())
  return `${shownUrl(url)} answered with status ${status}${said && ` ("${said}")`}`
}

/** Longer pages are not answers of an API. */
const maxSaidBytes = 64 * 1024
const maxCauseBytes = 1024

/** Finds the first message of the causes that the error's own message does not repeat, such as the storage's answer. */
export function causeOf(error: unknown): string | undefined {
  const own = messageOf(error)
  let cause = error instanceof Error ? error.cause : undefined
  while (cause instanceof Error && own.includes(messageOf(cause))) cause = cause.cause
  return cause === undefined ? undefined : printable(messageOf(cause), maxCauseBytes)
}

/** The message of an error for operators: with its cause, and without what it advises clients. */
export function explained(error: unknown): string {
  const cause = causeOf(error)
  const message = messageOf(error)
  if (cause === undefined) return message
  return `${message.replace(/; (?:tell its operator|try again (?:later|in a moment))$/, '')} (${cause})`
}
