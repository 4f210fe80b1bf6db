import type { Context } from 'hono'
import type { ServingEnv } from '../base/serving/serving.ts'
import type { Cookies } from './cookies.ts'
import type { External } from './external.ts'
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
