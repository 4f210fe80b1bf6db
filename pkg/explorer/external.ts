/** The address at which browsers reach the explorer. */
export interface External {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string
  /** `host[:port]`. */
  readonly host: string
  readonly isHttps: boolean
}

export interface ExternalOptions {
  /** The configured origin, which takes precedence over the request. */
  readonly baseUrl?: string | undefined
  /** Whether `X-Forwarded-Proto` and `X-Forwarded-Host` are trusted. */
  readonly trustProxy: boolean
}

/** Characters of host names and addresses. A Host header with others never gets into a page. */
const plainHost = /^[\w.:[\]-]{1,255}$/

/** From the configuration, otherwise from the request. */
export function externalOf(
  request: { readonly url: string; readonly header: (name: string) => string | undefined },
  { baseUrl, trustProxy }: ExternalOptions,
): External {
  if (baseUrl !== undefined) return externalFrom(new URL(baseUrl))
  const forwarded = (name: string) => (trustProxy ? firstOf(request.header(name)) : undefined)
  const url = new URL(request.url)
  const scheme = forwarded('x-forwarded-proto') === 'https' ? 'https' : url.protocol.slice(0, -1)
  const host = forwarded('x-forwarded-host') ?? request.header('host') ?? url.host
  const named = plainHost.test(host) ? URL.parse(`${scheme}://${host}`) : null
  return externalFrom(named ?? url)
}

/** @param url whatever its path */
export function externalFrom({ origin, host, protocol }: URL): External {
  return { origin, host, isHttps: protocol === 'https:' }
}

/** The value that the outermost of several proxies set. */
function firstOf(header: string | undefined): string | undefined {
  return header?.split(',')[0]?.trim() || undefined
}
