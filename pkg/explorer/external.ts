/** How browsers reach the explorer. */
export interface External {
  /** Scheme, host and port, without a slash at the end. */
  readonly origin: string
  /** `host[:port]`. */
  readonly host: string
  readonly isHttps: boolean
}

export interface ExternalOptions {
  /** The origin that was configured; it holds whatever a request says. */
  readonly baseUrl?: string | undefined
  /** Whether `X-Forwarded-Proto` and `X-Forwarded-Host` are believed. */
  readonly trustProxy: boolean
}

/** Letters of names and addresses: nothing else of a Host header gets into a page. */
const plainHost = /^[\w.:[\]-]{1,255}$/

/** From the configuration, else from the request. */
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

/** What the outermost of several proxies said. */
function firstOf(header: string | undefined): string | undefined {
  return header?.split(',')[0]?.trim() || undefined
}
