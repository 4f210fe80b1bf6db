import { Hono } from 'hono'
import { RegistryError } from '../base/errors/errors.ts'
import { acceptsGzip } from '../base/serving/serving.ts'
import { foreignCookies, setsOurCookie } from './cookies.ts'
import { inertPolicy } from './headers.ts'
import { type ExplorerContext, type ExplorerEnv, fetchSiteOf, note } from './request.ts'
import { bearerOf } from './session.ts'
import type { Upstream } from './upstream.ts'

const apiPath = '/-/api'
const browsePath = '/depot/ui/v1'
const leastPackedBytes = 1024

/** Headers of the server's answer that the page uses. */
const passed: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-encoding',
  'etag',
  'retry-after',
])

/**
 * The browse API for the explorer's own pages. An ingress may route `/depot/*` directly to the server, but these requests
 * always reach the explorer, which adds the session's token. Pages of other sites cannot use it.
 */
export function apiRoutes(upstream: Upstream): Hono<ExplorerEnv> {
  return new Hono<ExplorerEnv>().all(`${apiPath}/*`, async (c) => {
    note(c, `${apiPath}/*`)
    if (!isRead(c)) {
      throw new RegistryError('MethodNotAllowed', `${c.req.method} is not allowed here, only GET`, {
        headers: { Allow: 'GET, HEAD' },
      })
    }
    const { pathname, search } = new URL(c.req.url)
    // The compressed size could tell another site what this person sees.
    const packs = fetchSiteOf(c) === 'same-origin' && acceptsGzip(c.req.header('accept-encoding'))
    const answer = await upstream.forward(c, c.var.external, {
      path: browsePathOf(pathname + search),
      headers: {
        authorization: await authorizationOf(c),
        cookie: undefined,
        'accept-encoding': packs ? 'gzip' : 'identity',
      },
    })
    const headers = new Headers([...answer.headers].filter(([name]) => passed.has(name)))
    headers.set('Cache-Control', 'private, no-cache')
    headers.set('Vary', 'Cookie, Accept-Encoding, Sec-Fetch-Site')
    const { status, body } = answer
    if (!packs || body === null || !isLarge(headers)) return new Response(body, { status, headers })
    // The server compresses only for callers with a token.
    headers.delete('Content-Length')
    headers.set('Content-Encoding', 'gzip')
    const etag = headers.get('ETag')
    if (etag !== null) headers.set('ETag', `W/${etag}`)
    return new Response(body.pipeThrough(new CompressionStream('gzip')), { status, headers })
  })
}

/** Whether an answer is worth compressing and is not compressed yet. */
const isLarge = (headers: Headers): boolean =>
  !headers.has('Content-Encoding') && Number(headers.get('Content-Length') ?? 0) >= leastPackedBytes

/** @throws RegistryError NotFound for a path outside the API */
export function browsePathOf(target: string): string {
  if (!target.startsWith(`${apiPath}/`)) throw new RegistryError('NotFound', 'no such endpoint')
  return browsePath + target.slice(apiPath.length)
}

/** The session's token, only for the explorer's own pages and for addresses that a person typed. */
async function authorizationOf(c: ExplorerContext): Promise<string | undefined> {
  const site = fetchSiteOf(c)
  return site === 'same-origin' || site === 'none' || site === undefined ? bearer(c) : undefined
}

/** The session's token as a header. */
async function bearer(c: ExplorerContext): Promise<string | undefined> {
  const token = bearerOf(await c.var.session())
  return token === undefined ? undefined : `Bearer ${token}`
}

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
          authorization: await proxiedAuthorization(c, prefix),
          cookie: isBroker ? foreignCookies(c.req.header('cookie')) : undefined,
        },
      })
      keepOurCookies(answer.headers, isBroker)
      if (!isBroker) answer.headers.set('Content-Security-Policy', inertPolicy)
      return answer
    })
  }
  return app
}

async function proxiedAuthorization(c: ExplorerContext, prefix: string) {
  const own = c.req.header('authorization')
  if (own !== undefined || prefix !== '/depot') return own
  return isRead(c) && fetchSiteOf(c) === 'same-origin' ? bearer(c) : undefined
}

const isRead = (c: ExplorerContext): boolean => c.req.method === 'GET' || c.req.method === 'HEAD'

/** Only the broker may set cookies, and never one with a name of the explorer's cookies. */
function keepOurCookies(headers: Headers, isBroker: boolean): void {
  const lines = headers.getSetCookie()
  headers.delete('set-cookie')
  for (const line of lines) {
    if (isBroker && !setsOurCookie(line)) headers.append('set-cookie', line)
  }
}
