import { RegistryError } from '../../base/errors/errors.ts'
import type { Asked } from './endpoint.ts'
import type { RegistryOptions } from './options.ts'

/** Names, IPv4 and bracketed IPv6 addresses, with or without a port. */
const hostPattern = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/**
 * The URL under which the client reaches this server, without a trailing slash. The first of these that there is: the URL
 * that the operator configured, the one that a trusted proxy forwards, the Host header.
 *
 * @throws RegistryError BadRequest if the host is not valid, and for a plain request if a proxy has to be trusted
 */
export function baseUrlOf(
  asked: Asked,
  { baseUrl, trustProxy }: Pick<RegistryOptions, 'baseUrl' | 'trustProxy'>,
): string {
  if (baseUrl !== undefined) return baseUrl
  if (!('req' in asked)) {
    if (trustProxy === true && asked.isForwarded) throw badHost()
    return asked.origin
  }
  const { url } = asked.req
  const forwarded = (name: string) =>
    trustProxy === true ? asked.req.header(name)?.split(',')[0]?.trim() || undefined : undefined
  const protocol = forwarded('x-forwarded-proto') ?? url.slice(0, url.indexOf(':'))
  const host = forwarded('x-forwarded-host') ?? asked.req.header('host') ?? new URL(url).host
  if (!/^https?$/i.test(protocol) || !hostPattern.test(host)) throw badHost()
  // Such as x:99999 and 1.2.3.4.5.
  if (!URL.canParse(`http://${host}`)) throw badHost()
  return `${protocol.toLowerCase()}://${host}`
}

const badHost = () =>
  new RegistryError(
    'BadRequest',
    'the Host or X-Forwarded header of the request is not a host name',
  )
