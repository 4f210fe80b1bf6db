import { attempt } from '../base/errors/errors.ts'
import type { Clock } from '../base/pacing/pacing.ts'
import type { Cookies } from './cookies.ts'
import { claimsOf, packToken, unpackToken } from './packed-token.ts'
import type { Seal } from './seal.ts'

/** A person's session. The browser keeps it sealed, and this process keeps nothing. */
export interface Session {
  /** From the login; absent if there is only a developer token, or after a failed refresh. */
  readonly idToken?: string | undefined
  readonly refreshToken?: string | undefined
  /** Expiry of the ID token, in milliseconds since 1970. */
  readonly expiresAt?: number | undefined
  /** Pasted into the sidebar. It takes precedence over the ID token. */
  readonly devToken?: string | undefined
  /** Milliseconds since 1970. The maximum lifetime of the session begins here. */
  readonly signedInAt: number
}

/** The token for requests to the server. */
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
  /** Maximum lifetime of a session, in milliseconds. */
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

  /** The latest end of a session, independent of its tokens. */
  endOf({ signedInAt }: Session): number {
    return signedInAt + this.#ttlMs
  }

  /** Undefined if there is no session, or its cookies are not valid. */
  async read(cookies: Cookies): Promise<Session | undefined> {
    const text = cookies.getLong(cookie)
    if (text === undefined) return undefined
    const content = (await this.#seal.open('session', text, this.#ttlMs / 1000)) as
      | Content
      | undefined
    if (content === undefined || this.endOf(content) <= this.#clock()) return undefined
    const { id, dev, ...rest } = content
    return attempt(() => ({
      ...rest,
      ...(id !== undefined && { idToken: unpackToken(id) }),
      ...(dev !== undefined && { devToken: unpackToken(dev) }),
    }))
  }

  /** @throws SessionTooLarge, and writes nothing, if the session does not fit into two cookies */
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

/** Browsers silently drop cookies that are too large, so the login reports it instead. */
export class SessionTooLarge extends Error {
  override readonly name = 'SessionTooLarge'
  /** Number of groups in the claim `groups`; 0 without that claim. */
  readonly groups: number

  constructor({ idToken }: Session) {
    super('the session does not fit into two cookies')
    const { groups } = idToken === undefined ? {} : claimsOf(idToken)
    this.groups = Array.isArray(groups) ? groups.length : 0
  }
}
