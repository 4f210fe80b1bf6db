import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { Hono } from 'hono'
import type { Clock } from '../base/pacing/pacing.ts'
import { keep, stateOf } from './auth.ts'
import { type Boot, dataBlock, type Prime } from './boot.ts'
import { errorPath, themeAttribute } from './door.ts'
import type { FirstView } from './first-view.ts'
import { encodingsIn } from './headers.ts'
import { arrivedCookie } from './login.ts'
import { fetchPrime, type Primed } from './prime.ts'
import type { Grant } from './refresh.ts'
import { type ExplorerContext, type ExplorerEnv, fetchSiteOf, note } from './request.ts'
import { bearerOf, claimsOf, type Session, type Sessions } from './session.ts'
import type { Upstream } from './upstream.ts'
import { matchRoute, type Route } from './web/routes.ts'

export interface ShellOptions {
  /** index.html as the build wrote it. */
  readonly page: string
  readonly firstView: FirstView
  readonly upstream: Upstream
  readonly sessions: Sessions | undefined
  readonly refresh: Grant | undefined
  /** Whether people can sign in. */
  readonly oidc: boolean
  readonly devTokenInput: boolean
  readonly version: string
  /** How long a page waits for the first answer of the API. */
  readonly firstAnswerMs: number
  readonly clock: Clock
}

/** A session that ends sooner than this is refreshed before the page is sent. */
const soonMs = 10_000
/** A 401 this soon after a login does not cause another login. */
const justSignedInMs = 60_000

/** Serves every page: the same HTML with the configuration, the user and the first answer of the API. */
export function shellRoutes(options: ShellOptions): Hono<ExplorerEnv> {
  const { sessions, refresh, oidc, clock } = options

  async function currentSession(c: ExplorerContext): Promise<Session | undefined> {
    const session = await c.var.session()
    if (sessions === undefined || session?.refreshToken === undefined) return session
    if ((session.expiresAt ?? 0) - clock() > soonMs) return session
    const renewed = await refresh?.(session).catch(() => undefined)
    if (renewed === undefined) return session
    await keep(c, sessions, renewed)
    return renewed.idToken === undefined && renewed.devToken === undefined ? undefined : renewed
  }

  return new Hono<ExplorerEnv>().get('/*', async (c) => {
    const url = new URL(c.req.url)
    const route = matchRoute(url)
    note(c, `page ${route.page}`)
    const session = isNavigation(c) ? await currentSession(c) : undefined
    const answer = await fetchPrime(c, options.upstream, {
      key: route.primeUrl,
      token: bearerOf(session),
      waitMs: options.firstAnswerMs,
    })
    if (answer.kind === 'answer' && answer.prime.status === 401 && oidc) {
      const next = loginOrReason(c, session, clock())
      if (next !== undefined) {
        return c.redirect(
          next === 'login'
            ? `/auth/login?auto&returnTo=${encodeURIComponent(url.pathname + url.search)}`
            : errorPath('NoSession'),
        )
      }
    }
    const prime = answer.kind === 'answer' ? answer.prime : undefined
    const html = fill(options.page, c, {
      route,
      boot: bootOf(c, options, session),
      prime,
      view:
        route.page === 'resources' && prime?.status === 200
          ? await options.firstView(url.searchParams, prime.body)
          : undefined,
    })
    const status = statusOf(route, answer)
    const headers = { 'Cache-Control': 'no-store', Vary: 'Cookie, Accept-Encoding, Sec-Fetch-Site' }
    const packed = await packPage(c, html)
    if (packed === undefined) return c.html(html, status, headers)
    return c.body(packed, status, {
      ...headers,
      'Content-Type': 'text/html; charset=UTF-8',
      'Content-Encoding': 'gzip',
    })
  })
}

/** Whether a person opens the page, instead of another site embedding or reading it. */
function isNavigation(c: ExplorerContext): boolean {
  const site = fetchSiteOf(c)
  const dest = c.req.header('sec-fetch-dest')
  return site === 'same-origin' || dest === undefined || dest === 'document'
}

/** The redirect after a 401; undefined if a login would not help, so that the page has to explain the problem. */
function loginOrReason(
  c: ExplorerContext,
  session: Session | undefined,
  now: number,
): 'login' | 'no session' | undefined {
  if (session?.devToken !== undefined) return undefined
  if (session?.idToken !== undefined) {
    return now - session.signedInAt < justSignedInMs ? undefined : 'login'
  }
  return c.var.cookies.get(arrivedCookie) === undefined ? 'login' : 'no session'
}

function statusOf(route: Route, answer: Primed): 200 | 403 | 404 | 503 {
  if (route.status === 404) return 404
  if (answer.kind === 'unavailable') return 503
  const status = answer.kind === 'answer' ? answer.prime.status : 200
  return status === 403 || status === 404 ? status : 200
}

function bootOf(c: ExplorerContext, options: ShellOptions, session: Session | undefined): Boot {
  const { external } = c.var
  const claims = session?.idToken === undefined ? {} : claimsOf(session.idToken)
  const text = (claim: string) => {
    const value = claims[claim]
    return typeof value === 'string' ? value : undefined
  }
  const state = options.sessions && stateOf(session, options.sessions, options.clock())
  return {
    registryHost: external.host,
    baseUrl: external.origin,
    oidc: options.oidc,
    devTokenInput: options.devTokenInput,
    devTokenInUse: false,
    signedIn: false,
    ...state,
    ...(state?.signedIn && {
      name: text('name') ?? text('preferred_username') ?? text('email') ?? text('sub'),
      email: text('email'),
      signedInAt: session?.signedInAt,
      issuer: text('iss'),
      audience: [claims['aud'] ?? []].flat().map(String),
    }),
    version: options.version,
  }
}

interface Filling {
  readonly route: Route
  readonly boot: Boot
  readonly prime: Prime | undefined
  /** HTML that the server rendered with the components of the app. Without it, the skeleton stays. */
  readonly view: string | undefined
}

const skeleton = /<!--skeleton-->.*<!--\/skeleton-->/s

/** Puts the data of a request into the page: attributes, JSON in data blocks, and the first view. */
function fill(page: string, c: ExplorerContext, { route, boot, prime, view }: Filling): string {
  const attributes = `${themeAttribute(c)} data-page="${route.page}"`
  const blocks = [
    `<script type="application/json" id="boot">${dataBlock(boot)}</script>`,
    prime === undefined
      ? ''
      : `<script type="application/json" id="prime" data-key="${escaped(prime.key)}" data-status="${prime.status}">${dataBlock(prime.body)}</script>`,
  ].join('')
  const filled = view === undefined ? page : page.replace(skeleton, () => view)
  return filled
    .replace('<html', () => `<html${attributes}`)
    .replace('</head>', () => `${blocks}</head>`)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')
}

const compress = promisify(gzip)
/** A page has 40 kB of similar rows, so a higher level hardly makes it smaller. */
const level = 3

/**
 * Compresses a page for browsers that accept it: 5 kB instead of 40. Pages that another site links to are not compressed: that
 * site chooses the URL, so the compressed size would reveal other content of the page.
 *
 * @returns undefined if the page has to be sent uncompressed
 */
async function packPage(
  c: ExplorerContext,
  html: string,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const site = fetchSiteOf(c)
  if (site !== 'none' && site !== 'same-origin') return undefined
  const accepted = encodingsIn(c.req.header('accept-encoding'))
  return accepted.includes('gzip') ? new Uint8Array(await compress(html, { level })) : undefined
}
