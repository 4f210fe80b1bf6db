import { brotliCompressSync, brotliDecompressSync, constants } from 'node:zlib'
import type { TokenEndpointResponse, TokenEndpointResponseHelpers } from 'openid-client'
import { attempt, jsonOf } from '../base/errors/errors.ts'
import type { Clock } from '../base/pacing/pacing.ts'
import type { Cookies } from './cookies.ts'
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

interface SessionsOptions {
  readonly seal: Seal
  /** Maximum lifetime of a session, in milliseconds. */
  readonly ttlMs: number
  readonly clock: Clock
}

/** Reads and writes the session cookies. */
export class Sessions {
  readonly #options: SessionsOptions

  constructor(options: SessionsOptions) {
    this.#options = options
  }

  /** The latest end of a session, independent of its tokens. */
  endOf({ signedInAt }: Session): number {
    return signedInAt + this.#options.ttlMs
  }

  /** Undefined if there is no session, or its cookies are not valid. */
  async read(cookies: Cookies): Promise<Session | undefined> {
    const text = cookies.getLong(cookie)
    if (text === undefined) return undefined
    const { seal, ttlMs, clock } = this.#options
    const content = (await seal.open('session', text, ttlMs / 1000)) as Content | undefined
    if (content === undefined || this.endOf(content) <= clock()) return undefined
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
    const { seal, clock } = this.#options
    const leftSeconds = Math.max(1, (this.endOf(session) - clock()) / 1000)
    const sealed = await seal.seal('session', content, leftSeconds)
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

type Tokens = TokenEndpointResponse & TokenEndpointResponseHelpers

/**
 * A session with the tokens of the issuer. The access token is not used, so it is not kept.
 *
 * @param signedInAt milliseconds since 1970
 * @param before the session that is refreshed; tokens that the issuer does not send again are kept
 */
export function sessionOf(tokens: Tokens, signedInAt: number, before?: Session): Session {
  const claims = tokens.claims()
  return {
    idToken: tokens.id_token ?? before?.idToken,
    refreshToken: tokens.refresh_token ?? before?.refreshToken,
    expiresAt: claims === undefined ? before?.expiresAt : claims.exp * 1000,
    devToken: before?.devToken,
    signedInAt,
  }
}

/** Larger than any server accepts in a header. */
const largestBytes = 1024 * 1024
/** A flag for JWTs, the length of the header, and the length of the compressed part. */
const headBytes = 9

/**
 * Packs a JWT without double base64: header and claims compressed, the signature unchanged. Three hundred groups take 1.5 KB
 * instead of 20. Signatures look random, so compressing them together with the names would make the result larger. Anything
 * that is not a JWT, or would not be restored exactly, is compressed as text.
 */
export function packToken(token: string): string {
  const parts = token.split('.')
  const decoded = parts.map((part) => Buffer.from(part, 'base64url'))
  const isExact =
    parts.length === 3 &&
    decoded.every((part, index) => part.toString('base64url') === parts[index])
  const [header = Buffer.from(token), claims = Buffer.alloc(0), signature = Buffer.alloc(0)] =
    isExact ? decoded : []
  const compressed = brotliCompressSync(Buffer.concat([header, claims]), {
    params: { [constants.BROTLI_PARAM_QUALITY]: 11 },
  })
  const lengths = Buffer.alloc(headBytes)
  lengths.writeUInt8(isExact ? 1 : 0)
  lengths.writeUInt32BE(header.length, 1)
  lengths.writeUInt32BE(compressed.length, 5)
  return Buffer.concat([lengths, compressed, signature]).toString('base64url')
}

/** @throws Error if `packToken` did not pack it */
export function unpackToken(packed: string): string {
  const bytes = Buffer.from(packed, 'base64url')
  const isJwt = bytes.readUInt8() === 1
  const headerBytes = bytes.readUInt32BE(1)
  const end = headBytes + bytes.readUInt32BE(5)
  const text = brotliDecompressSync(bytes.subarray(headBytes, end), {
    maxOutputLength: largestBytes,
  })
  if (!isJwt) return text.toString()
  return [text.subarray(0, headerBytes), text.subarray(headerBytes), bytes.subarray(end)]
    .map((part) => part.toString('base64url'))
    .join('.')
}

/** The claims of a token that was verified before, or `{}`. For display only: no decision depends on them. */
export function claimsOf(token: string): Readonly<Record<string, unknown>> {
  const claims = jsonOf(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  return typeof claims === 'object' && claims !== null ? { ...claims } : {}
}
