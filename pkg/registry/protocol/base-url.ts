import type { Context } from 'hono'
import { RegistryError } from '../../base/errors/errors.ts'
import type { PlainRequest, ServingEnv } from '../../base/serving/serving.ts'
import type { RegistryOptions } from './ports.ts'

/** Names, IPv4 and bracketed IPv6 addresses, with or without a port. */
const hostPattern = /^(?:[a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i

/**
 * The URL under which the client reaches this server, without a trailing slash: what the operator configured, else what
 * a trusted proxy says, else the Host header.
 *
 * @throws RegistryError BadRequest where the client names a host that cannot be one.
 */
export function baseUrlOf(c: Context<ServingEnv>, options: RegistryOptions): string {
  if (options.baseUrl !== undefined) return options.baseUrl
  const { url } = c.req
  const schemeEnd = url.indexOf(':')
  const forwarded = (name: string) =>
    options.trustProxy === true ? c.req.header(name)?.split(',')[0]?.trim() || undefined : undefined
  const protocol = forwarded('x-forwarded-proto') ?? url.slice(0, schemeEnd)
  const host = forwarded('x-forwarded-host') ?? c.req.header('host') ?? new URL(url).host
  if (!/^https?$/i.test(protocol) || !hostPattern.test(host)) {
    throw new RegistryError(
      'BadRequest',
      'the Host or X-Forwarded header of the request is not a host name',
    )
  }
  return `${protocol.toLowerCase()}://${host}`
}

/** As {@link baseUrlOf}, for a request whose host is in order; undefined where a proxy has to be heard. */
export function plainBaseUrlOf(
  { origin, isForwarded }: PlainRequest,
  { baseUrl, trustProxy }: RegistryOptions,
): string | undefined {
  return baseUrl ?? (trustProxy === true && isForwarded ? undefined : origin)
}
