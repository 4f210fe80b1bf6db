import { Hono } from 'hono'
import { foreignCookies, setsOurCookie } from './cookies.ts'
import { inertHeaders } from './headers.ts'
import { type ExplorerContext, type ExplorerEnv, fetchSiteOf, note } from './request.ts'
import { bearerOf } from './session.ts'
import type { Upstream } from './upstream.ts'

/** Paths of the server. Each is a whole path element: `/depots` is a page of the explorer. */
const prefixes = ['/depot', '/.well-known', '/v1/modules', '/v1/providers', '/broker'] as const

/**
 * Forwards requests for the server unchanged, streamed both ways, so that the explorer's address is also the registry's. A
 * request keeps its own Authorization. Only reads by the explorer's own pages get the session's token.
 */
export function proxyRoutes(upstream: Upstream): Hono<ExplorerEnv> {
  const app = new Hono<ExplorerEnv>()
  for (const prefix of prefixes) {
    const isBroker = prefix === '/broker'
    app.all(`${prefix}/*`, async (c) => {
      note(c, `${prefix}/*`)
      const answer = await upstream.forward(c, c.var.external, {
        headers: {
          authorization: await authorizationOf(c, prefix),
          cookie: isBroker ? foreignCookies(c.req.header('cookie')) : undefined,
        },
      })
      keepOurCookies(answer.headers, isBroker)
      if (!isBroker) {
        for (const [name, value] of Object.entries(inertHeaders)) answer.headers.set(name, value)
      }
      return answer
    })
  }
  return app
}

async function authorizationOf(c: ExplorerContext, prefix: string): Promise<string | undefined> {
  const own = c.req.header('authorization')
  if (own !== undefined || prefix !== '/depot') return own
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (!isRead || fetchSiteOf(c) !== 'same-origin') return undefined
  const token = bearerOf(await c.var.session())
  return token === undefined ? undefined : `Bearer ${token}`
}

/** Only the broker may set cookies, and never one with a name of the explorer's cookies. */
function keepOurCookies(headers: Headers, isBroker: boolean): void {
  const lines = headers.getSetCookie()
  headers.delete('set-cookie')
  for (const line of lines) {
    if (isBroker && !setsOurCookie(line)) headers.append('set-cookie', line)
  }
}
