import { type Handler, Hono } from 'hono'
import { buildEndSessionUrl } from 'openid-client'
import { isRecord } from '../api/v1alpha1/v1alpha1.ts'
import { attempt, badRequest, jsonOf, RegistryError } from '../base/errors/errors.ts'
import type { Clock } from '../base/pacing/pacing.ts'
import { requestText } from '../base/serving/serving.ts'
import type { Boot } from './boot.ts'
import { signedOutCookie, signedOutPath, signedOutSeconds } from './door.ts'
import type { Issuer } from './issuer.ts'
import { forgetLogins } from './login.ts'
import type { Grant } from './refresh.ts'
import { type ExplorerContext, type ExplorerEnv, fetchSiteOf, note } from './request.ts'
import type { Seal } from './seal.ts'
import { claimsOf, packToken, type Session, type Sessions, unpackToken } from './session.ts'

export interface AuthRoutesOptions {
  readonly sessions: Sessions
  readonly seal: Seal
  /** Undefined without a login. */
  readonly issuer: Issuer | undefined
  readonly refresh: Grant | undefined
  readonly devTokenInput: boolean
  readonly clock: Clock
}

const largestBodyBytes = 64 * 1024
const logoutCookie = 'logout'
const issuerLogoutPath = '/auth/logout/issuer'
const logoutSeconds = 60
/** Characters that an Authorization header may contain. */
const tokenPattern = /^[\w.~+/-]+=*$/

/** Routes of the pages for their session: refresh, sign-out, developer token. */
export function authRoutes(options: AuthRoutesOptions): Hono<ExplorerEnv> {
  const app = new Hono<ExplorerEnv>()
  app.on(['POST', 'DELETE', 'PUT', 'PATCH'], '/auth/*', async (c, next) => {
    requireOwnPage(c)
    await next()
  })
  app.post('/auth/refresh', refreshed(options)).all(methodNotAllowed('POST'))
  app.post('/auth/logout', loggedOut(options)).all(methodNotAllowed('POST'))
  app.get(issuerLogoutPath, loggedOutThere(options))
  if (options.devTokenInput) {
    app
      .post('/auth/dev-token', (c) => withDevToken(c, options, devTokenOf))
      .delete((c) => withDevToken(c, options, async () => undefined))
      .all(methodNotAllowed('POST, DELETE'))
  }
  return app
}

type AuthHandler = Handler<ExplorerEnv, string, object, Promise<Response>>

const refreshed =
  ({ sessions, refresh, clock }: AuthRoutesOptions): AuthHandler =>
  async (c) => {
    note(c, '/auth/refresh')
    const session = await c.var.session()
    const state = stateOf(session, sessions, clock())
    const isKnown =
      (state.expiresAt ?? 0) <= endIn(jsonOf(await requestText(c.req.raw, largestBodyBytes)))
    if (!isKnown || refresh === undefined || session?.refreshToken === undefined) {
      return c.json(state)
    }
    const renewed = await refresh(session).catch((cause: unknown) => {
      throw new RegistryError(
        'Unavailable',
        'the identity provider cannot be reached: the session stays valid until it expires',
        { cause },
      )
    })
    await keep(c, sessions, renewed)
    return c.json(stateOf(renewed, sessions, clock()))
  }

const loggedOut =
  ({ sessions, seal, issuer }: AuthRoutesOptions): AuthHandler =>
  async (c) => {
    note(c, '/auth/logout')
    const session = await c.var.session()
    sessions.clear(c.var.cookies)
    forgetLogins(c.var.cookies)
    c.header('Clear-Site-Data', '"cache", "storage"')
    if (issuer === undefined) return c.json({ location: '/' })
    c.var.cookies.set(signedOutCookie, '1', signedOutSeconds)
    if (session?.idToken === undefined) return c.json({ location: signedOutPath })
    // The page after a sign-out needs the ID token, which scripts of this page must not see.
    const hint = await seal.seal('logout', { token: packToken(session.idToken) }, logoutSeconds)
    const fits = c.var.cookies.setLong(logoutCookie, hint, logoutSeconds)
    return c.json({ location: fits ? issuerLogoutPath : signedOutPath })
  }

/** Ends the session at the issuer, if it has a page for that. */
const loggedOutThere =
  ({ seal, issuer }: AuthRoutesOptions): AuthHandler =>
  async (c) => {
    note(c, issuerLogoutPath)
    const sealed = c.var.cookies.getLong(logoutCookie)
    c.var.cookies.clearLong(logoutCookie)
    const hint = hintOf(
      sealed === undefined ? undefined : await seal.open('logout', sealed, logoutSeconds),
    )
    const configuration = await issuer?.configuration().catch(() => undefined)
    const endpoint = configuration?.serverMetadata().end_session_endpoint
    if (configuration === undefined || endpoint === undefined || hint === undefined) {
      return c.redirect(signedOutPath)
    }
    const url = buildEndSessionUrl(configuration, {
      id_token_hint: hint,
      post_logout_redirect_uri: c.var.external.origin + signedOutPath,
    })
    return c.redirect(url.href)
  }

/** Stores another developer token, or removes it. */
async function withDevToken(
  c: ExplorerContext,
  { sessions, clock }: AuthRoutesOptions,
  tokenOf: (c: ExplorerContext) => Promise<string | undefined>,
): Promise<Response> {
  note(c, '/auth/dev-token')
  const devToken = await tokenOf(c)
  const session = await c.var.session()
  const changed = { signedInAt: clock(), ...session, devToken }
  await keep(c, sessions, changed)
  return c.json(stateOf(changed, sessions, clock()))
}

/** Writes the session, or clears its cookies if it has no token. */
export async function keep(
  c: ExplorerContext,
  sessions: Sessions,
  session: Session | undefined,
): Promise<void> {
  if (session?.idToken === undefined && session?.devToken === undefined) {
    sessions.clear(c.var.cookies)
  } else {
    await sessions.write(c.var.cookies, session).catch((cause: unknown) => {
      throw new RegistryError('TooLarge', 'the token is too large for a cookie', { cause })
    })
  }
}

/** Tokens are refreshed after this share of their lifetime. */
const refreshedAfter = 0.8

/** The part of a session that the page may know. */
export function stateOf(
  session: Session | undefined,
  sessions: Sessions,
  now: number,
): Pick<Boot, 'signedIn' | 'devTokenInUse' | 'expiresAt' | 'endsAt' | 'refreshInMs'> {
  const devTokenInUse = session?.devToken !== undefined
  const { idToken, refreshToken, expiresAt } = session ?? {}
  if (session === undefined || idToken === undefined || expiresAt === undefined) {
    return { signedIn: idToken !== undefined, devTokenInUse }
  }
  const endsAt = sessions.endOf(session)
  const token = Math.min(expiresAt, endsAt)
  const issuedAt = Number(claimsOf(idToken)['iat'] ?? 0) * 1000
  const lifeMs = issuedAt > 0 ? expiresAt - issuedAt : 0
  return {
    signedIn: true,
    devTokenInUse,
    expiresAt: token,
    endsAt: refreshToken === undefined ? token : endsAt,
    ...(refreshToken !== undefined && {
      refreshInMs: Math.max(0, expiresAt - (1 - refreshedAfter) * lifeMs - now),
    }),
  }
}

/** The end of the session that the page knows. Another tab may have extended the session since. */
function endIn(body: unknown): number {
  const known = isRecord(body) && body['expiresAt']
  return typeof known === 'number' ? known : Number.POSITIVE_INFINITY
}

/** @throws RegistryError Forbidden unless a page of this explorer sends the request */
function requireOwnPage(c: ExplorerContext): void {
  const site = fetchSiteOf(c)
  const isOwn =
    site === undefined ? c.req.header('origin') === c.var.external.origin : site === 'same-origin'
  if (!isOwn) {
    throw new RegistryError('Forbidden', 'only pages of this explorer may send this request')
  }
}

async function devTokenOf(c: ExplorerContext): Promise<string> {
  const isJson = /^application\/json\s*(?:;|$)/i.test(c.req.header('content-type') ?? '')
  const body = isJson ? jsonOf(await requestText(c.req.raw, largestBodyBytes)) : undefined
  const token = isRecord(body) && body['token']
  const text = typeof token === 'string' ? token.trim().replace(/^Bearer +/i, '') : ''
  if (!tokenPattern.test(text)) {
    throw badRequest('send {"token": "…"} as JSON, with a bearer token in it')
  }
  return text
}

/** The token of a sealed logout; undefined if it is unreadable, because another release may have written it. */
function hintOf(value: unknown): string | undefined {
  const token = isRecord(value) && value['token']
  return typeof token === 'string' ? attempt(() => unpackToken(token)) : undefined
}

function methodNotAllowed(allow: string): Handler<ExplorerEnv> {
  return (c) => {
    throw new RegistryError('MethodNotAllowed', `${c.req.method} is not allowed here`, {
      headers: { Allow: allow },
    })
  }
}
