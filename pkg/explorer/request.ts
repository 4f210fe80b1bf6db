import type { Context } from 'hono'
import type { ServingEnv } from '../base/serving/serving.ts'
import type { Cookies } from './cookies.ts'
import type { Session } from './session.ts'

/** Context of every handler of the explorer. */
export interface ExplorerEnv extends ServingEnv {
  Variables: {
    readonly external: External
    readonly cookies: Cookies
    /** Opens the session on the first call. */
    readonly session: () => Promise<Session | undefined>
  }
}

export type ExplorerContext = Context<ExplorerEnv>

/** Names the route for the access log and the metrics. */
export function note(c: ExplorerContext, route: string): void {
  const facts = c.env?.facts
  if (facts !== undefined) facts.route = route
}

/**
 * The site of the requesting page, from the browser: `same-origin`, `none` for a person, or another; undefined without a
 * browser.
 */
export function fetchSiteOf(c: ExplorerContext): string | undefined {
  return c.req.header('sec-fetch-site')
}

export function remoteAddressOf(c: ExplorerContext): string | undefined {
  return c.env?.incoming?.socket.remoteAddress
}

/** The address at which browsers reach the explorer. */
export interface External {
  /** Scheme, host and port, without a trailing slash. */
  readonly origin: string
  /** `host[:port]`. */
  readonly host: string
  readonly isHttps: boolean
}

/** Characters of host names and addresses. A Host header with others never gets into a page. */
const plainHost = /^[\w.:[\]-]{1,255}$/

/** From the configuration, otherwise from the request. */
export function externalOf(
  request: ExplorerContext['req'],
  { baseUrl, trustProxy }: { readonly baseUrl: string | undefined; readonly trustProxy: boolean },
): External {
  if (baseUrl !== undefined) return externalFrom(new URL(baseUrl))
  // The value that the outermost of several proxies set.
  const forwarded = (name: string) =>
    trustProxy ? request.header(name)?.split(',')[0]?.trim() || undefined : undefined
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
