import { Hono } from 'hono'
import {
  AuthorizationResponseError,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client'
import type { Clock } from '../base/pacing/pacing.ts'
import type { Logger } from '../base/telemetry/telemetry.ts'
import type { Cookies } from './cookies.ts'
import { errorPath, type LoginProblem, signedOutCookie, signedOutPath } from './door.ts'
import type { Issuer } from './issuer.ts'
import { type ExplorerContext, type ExplorerEnv, note } from './request.ts'
import type { Seal } from './seal.ts'
import { type Session, type Sessions, SessionTooLarge, sessionOf } from './session.ts'

/** A login in progress, in its own cookie, so that two tabs can log in at once. */
interface Attempt {
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string
}

type LoginResult = 'success' | LoginProblem

export interface LoginOptions {
  readonly issuer: Issuer
  readonly seal: Seal
  readonly sessions: Sessions
  readonly onLogin: (result: LoginResult) => void
  readonly log: Logger
  readonly clock: Clock
}

const attemptCookie = 'login-'
const attemptSeconds = 600
/** Older ones are dropped, because other sites can make a browser begin logins, which must not fill its cookies. */
const mostAttempts = 5
/**
 * Records for a minute that a person has just signed in, so that a browser that loses its session is not redirected in a loop.
 */
export const arrivedCookie = 'arrived'
const arrivedSeconds = 60

/** Sign-in at the issuer: authorization code with PKCE, state and nonce. */
export function loginRoutes(options: LoginOptions): Hono<ExplorerEnv> {
  const login = new Login(options)
  return new Hono<ExplorerEnv>()
    .get('/auth/login', (c) => login.begin(c))
    .get(options.issuer.oidc.callbackPath, (c) => login.finish(c))
}

class Login {
  readonly #options: LoginOptions

  constructor(options: LoginOptions) {
    this.#options = options
  }

  async begin(c: ExplorerContext): Promise<Response> {
    note(c, '/auth/login')
    const { issuer, seal } = this.#options
    const { cookies, external } = c.var
    const isSignedOut = cookies.get(signedOutCookie) !== undefined
    if (isSignedOut && c.req.query('auto') !== undefined) {
      return c.redirect(`${signedOutPath}?private`)
    }
    const configuration = await issuer.configuration().catch(() => undefined)
    if (configuration === undefined) return this.#fail(c, 'IssuerUnavailable')
    if (isSignedOut) cookies.clear(signedOutCookie)
    const attempt: Attempt = {
      state: randomState(),
      nonce: randomNonce(),
      verifier: randomPKCECodeVerifier(),
      returnTo: safeReturnTo(c.req.query('returnTo'), external.origin),
    }
    const earlier = cookies.names(attemptCookie)
    for (const name of earlier.slice(0, Math.max(0, earlier.length + 1 - mostAttempts))) {
      cookies.clear(name)
    }
    const name = attemptCookie + attempt.state
    cookies.set(name, await seal.seal('login', attempt, attemptSeconds), attemptSeconds)
    const { callbackPath, scopes } = issuer.oidc
    const url = buildAuthorizationUrl(configuration, {
      redirect_uri: external.origin + callbackPath,
      scope: scopes,
      state: attempt.state,
      nonce: attempt.nonce,
      code_challenge: await calculatePKCECodeChallenge(attempt.verifier),
      code_challenge_method: 'S256',
      // Without it, an issuer gives no refresh token to a person who has already consented.
      ...(scopes.split(' ').includes('offline_access') && { prompt: 'consent' }),
    })
    return c.redirect(url.href)
  }

  async finish(c: ExplorerContext): Promise<Response> {
    const { issuer, seal, sessions, onLogin } = this.#options
    note(c, issuer.oidc.callbackPath)
    const { cookies, external } = c.var
    const state = c.req.query('state') ?? ''
    const name = attemptCookie + state
    const sealed = /^[\w-]{20,100}$/.test(state) ? cookies.get(name) : undefined
    const attempt =
      sealed === undefined ? undefined : await seal.open('login', sealed, attemptSeconds)
    if (!isAttempt(attempt) || attempt.state !== state) return this.#fail(c, 'NoSignInAttempt')
    cookies.clear(name)
    const configuration = await issuer.configuration().catch(() => undefined)
    if (configuration === undefined) return this.#fail(c, 'IssuerUnavailable')
    try {
      const session = await this.#redeem(c, configuration, attempt)
      await sessions.write(cookies, session)
      cookies.set(arrivedCookie, '1', arrivedSeconds)
      onLogin('success')
      return c.redirect(safeReturnTo(attempt.returnTo, external.origin))
    } catch (err) {
      if (!(err instanceof SessionTooLarge)) return this.#fail(c, problemOf(err), { err })
      return this.#fail(c, 'TooManyGroups', { count: err.groups })
    }
  }

  async #redeem(
    c: ExplorerContext,
    configuration: Configuration,
    attempt: Attempt,
  ): Promise<Session> {
    const { issuer, clock } = this.#options
    const { search } = new URL(c.req.url)
    const tokens = await authorizationCodeGrant(
      configuration,
      new URL(issuer.oidc.callbackPath + search, c.var.external.origin),
      {
        expectedState: attempt.state,
        expectedNonce: attempt.nonce,
        pkceCodeVerifier: attempt.verifier,
        idTokenExpected: true,
      },
    )
    return sessionOf(tokens, clock())
  }

  #fail(c: ExplorerContext, problem: LoginProblem, why: { err?: unknown; count?: number } = {}) {
    this.#options.onLogin(problem)
    this.#options.log.info({ err: why.err, problem }, 'login failed')
    return c.redirect(errorPath(problem, why.count))
  }
}

/** Clears the cookies of logins that have begun or ended. */
export function forgetLogins(cookies: Cookies): void {
  for (const name of [arrivedCookie, ...cookies.names(attemptCookie)]) cookies.clear(name)
}

function isAttempt(value: unknown): value is Attempt {
  return typeof value === 'object' && value !== null && 'verifier' in value
}

function problemOf(err: unknown): LoginProblem {
  if (err instanceof AuthorizationResponseError) {
    return err.error === 'access_denied' ? 'SignInDenied' : 'SignInRefused'
  }
  return err instanceof Error && /^(?:TypeError|TimeoutError|AbortError)$/.test(err.name)
    ? 'IssuerUnavailable'
    : 'SignInRefused'
}

const longest = 2048

/**
 * A path of the explorer that a login may redirect to. Anything else becomes `/`.
 *
 * @param asked value of the query parameter
 * @param origin of the explorer
 */
export function safeReturnTo(asked: string | undefined, origin: string): string {
  if (asked === undefined || asked.length > longest) return '/'
  // One slash, not followed by a character that browsers read as a second slash, and no characters that browsers drop or
  // convert.
  if (!/^\/(?![/\\])/.test(asked) || /[\\\p{Cc}\u2028\u2029]/u.test(asked)) return '/'
  const url = URL.parse(asked, origin)
  if (url === null || url.origin !== origin) return '/'
  const path = url.pathname + url.search + url.hash
  // Resolving turns `/.//host` into `//host`.
  if (path.startsWith('//') || isBelow(decoded(url.pathname), '/auth')) return '/'
  return path
}

function isBelow(path: string, folder: string): boolean {
  const lower = path.toLowerCase()
  return lower === folder || lower.startsWith(`${folder}/`)
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
