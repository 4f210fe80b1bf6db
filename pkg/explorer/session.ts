import type { Clock } from '../base/pacing/pacing.ts'
import type { Cookies } from './cookies.ts'
import { claimsOf, packToken, unpackToken } from './packed-token.ts'
import type { Seal } from './seal.ts'

/** Who looks at the explorer. It lives in the browser, sealed; this process keeps nothing. */
export interface Session {
  /** Of the login; absent where there is a developer token only, or where a refresh failed. */
  readonly idToken?: string | undefined
  readonly refreshToken?: string | undefined
  /** When the id token expires, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Pasted into the sidebar; it wins over the id token. */
  readonly devToken?: string | undefined
  /** Milliseconds since 1970; the session's longest life counts from here. */
  readonly signedInAt: number
}

/** The token that requests to the server carry. */
export function bearerOf(session: Session | undefined): string | undefined {
  return session?.devToken ?? session?.idToken
}

interface Content extends Omit<Session, 'idToken' | 'devToken'> {
  readonly id?: string
  readonly dev?: string
}

const cookie = 'session'

export interface SessionsOptions {
  readonly seal: Seal
  /** Longest life of a session, in milliseconds. */
  readonly ttlMs: number
  readonly clock: Clock
}

/** Reads and writes the session cookies. */
export class Sessions {
  readonly #seal: Seal
  readonly #ttlMs: number
  readonly #clock: Clock

  constructor({ seal, ttlMs, clock }: SessionsOptions) {
    this.#seal = seal
    this.#ttlMs = ttlMs
    this.#clock = clock
  }

  /** When a session ends, whatever its tokens say. */
  endOf({ signedInAt }: Session): number {
    return signedInAt + this.#ttlMs
  }

  /** Undefined where there is none, or none that can be believed. */
  async read(cookies: Cookies): Promise<Session | undefined> {
    const text = cookies.getLong(cookie)
    if (text === undefined) return undefined
    const content = (await this.#seal.open('session', text, this.#ttlMs / 1000)) as
      | Content
      | undefined
    if (content === undefined || this.endOf(content) <= this.#clock()) return undefined
    const { id, dev, ...rest } = content
    try {
      return {
        ...rest,
        ...(id !== undefined && { idToken: unpackToken(id) }),
        ...(dev !== undefined && { devToken: unpackToken(dev) }),
      }
    } catch {
      return undefined
    }
  }

  /** @throws SessionTooLarge, and writes nothing, where it does not fit into what browsers keep */
  async write(cookies: Cookies, session: Session): Promise<void> {
    const { idToken, devToken, ...rest } = session
    const content: Content = {
      ...rest,
      ...(idToken !== undefined && { id: packToken(idToken) }),
      ...(devToken !== undefined && { dev: packToken(devToken) }),
    }
    const leftSeconds = Math.max(1, (this.endOf(session) - this.#clock()) / 1000)
    const sealed = await this.#seal.seal('session', content, leftSeconds)
    if (!cookies.setLong(cookie, sealed, leftSeconds)) throw new SessionTooLarge(session)
  }

  clear(cookies: Cookies): void {
    cookies.clearLong(cookie)
  }
}

/** Browsers silently drop cookies that are too large, so the login says so instead. */
export class SessionTooLarge extends Error {
  override readonly name = 'SessionTooLarge'
  /** How many groups the token names, where it names them in a claim of that name. */
  readonly groups: number

  constructor({ idToken }: Session) {
    super('the session does not fit into two cookies')
    const { groups } = idToken === undefined ? {} : claimsOf(idToken)
    this.groups = Array.isArray(groups) ? groups.length : 0
  }
}
