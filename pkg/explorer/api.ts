import { Hono } from 'hono'
import { RegistryError } from '../base/errors/errors.ts'
import { acceptsGzip } from '../base/serving/serving.ts'
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
    if (c.req.method !== 'GET' && c.req.method !== 'HEAD') {
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
  if (site !== 'same-origin' && site !== 'none' && site !== undefined) return undefined
  const token = bearerOf(await c.var.session())
  return token === undefined ? undefined : `Bearer ${token}`
}
