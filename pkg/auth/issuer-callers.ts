import { Bounded } from '../memory/memory.ts'
import { SingleFlight } from '../pacing/pacing.ts'
import { checkSpelling, checkToken } from './bearer.ts'
import type { Caller } from './caller.ts'
import { bytesOfGroups, GroupLists } from './group-lists.ts'
import type { Issuer } from './issuer.ts'
import { readUnchecked } from './jwt-claims.ts'
import { quote, Refusal } from './refusal.ts'
import { type Callers, callerHashOf, passthroughSession, type Session } from './session.ts'
import { type TokenRules, verifyToken } from './token-verifier.ts'

export interface IssuerCallersOptions extends TokenRules {
  /** Callers without a token are guests. */
  readonly allowGuests: boolean
  /** Tokens of other issuers are for the cluster to judge. */
  readonly allowFallback: boolean
  readonly keyedHash: (text: string) => string
}

const maxSessions = 50_000
/** Of all sessions together: a token may bring 48 kB of groups. Lists that are shared take 16 MB more. */
const maxSessionBytes = 48 * 1024 * 1024
const maxVerifying = 1000

/** Callers with a token of the OIDC issuer. Each token is checked once, and then known until it expires. */
export class IssuerCallers implements Callers {
  readonly #options: IssuerCallersOptions
  readonly #issuer: Issuer
  /** By the hash of the token. */
  readonly #sessions: Bounded<Session>
  readonly #groupLists: GroupLists
  readonly #verifying = new SingleFlight<Session>({
    max: maxVerifying,
    overload: () => new Refusal('busy', 'too many new tokens at once: try again in a moment'),
  })
  readonly #guest: Session = {
    caller: { mode: 'oidc', kind: 'guest', subject: undefined, groups: [], hash: undefined },
  }

  constructor(issuer: Issuer, options: IssuerCallersOptions) {
    this.#issuer = issuer
    this.#options = options
    this.#groupLists = new GroupLists(options.keyedHash)
    this.#sessions = new Bounded({
      maxEntries: maxSessions,
      maxBytes: maxSessionBytes,
      sizeOf: bytesOf,
      clock: options.clock,
    })
  }

  /** Forgets every token, because a key may have been withdrawn. */
  forget(): void {
    this.#sessions.clear()
  }

  identify(token: string | undefined, hash: string): Session | Promise<Session> {
    if (token !== undefined) return this.#sessions.get(hash) ?? this.#newcomer(token, hash)
    if (this.#options.allowGuests) return this.#guest
    throw new Refusal(
      'missing',
      'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
    )
  }

  known(token: string | undefined, hash: string): Session | undefined {
    if (token === undefined) return this.#options.allowGuests ? this.#guest : undefined
    return this.#sessions.get(hash)
  }

  #newcomer(token: string, hash: string): Session | Promise<Session> {
    const { issuerUrl, allowFallback } = this.#options
    checkToken(token)
    const claims = readUnchecked(token)
    if (claims === undefined) {
      throw new Refusal('malformed', 'the token is no signed JWT: log in with terraform login')
    }
    if (claims.issuer === issuerUrl) {
      checkSpelling(token)
      return this.#verifying.run(hash, () => this.#verify(token, hash))
    }
    if (allowFallback && claims.issuer !== undefined) {
      return passthroughSession('oidc', { format: 'token', token, hash })
    }
    throw new Refusal(
      'issuer',
      `the token was issued by ${quote(claims.issuer)}, and this registry takes tokens of ${quote(issuerUrl)}: log in with terraform login, or have the server started with --oidc-allow-sa-fallback if it is one of the cluster`,
    )
  }

  async #verify(token: string, hash: string): Promise<Session> {
    const { keys } = this.#issuer
    const verified = await verifyToken(token, this.#issuer, this.#options)
    const { kind, subject, expiresAtMs } = verified
    const groups = this.#groupLists.shared(verified.groups)
    const callerHash = callerHashOf(this.#options.keyedHash(subject))
    const caller: Caller = { mode: 'oidc', kind, subject, groups, hash: callerHash }
    const session: Session = { caller }
    // Keys that came while it was being checked may be others than those that it was checked with.
    if (this.#issuer.keys === keys) this.#sessions.set(hash, session, expiresAtMs)
    return session
  }
}

/** What a session keeps alive at most, as if it shared its groups with no other. */
function bytesOf({ caller: { subject = '', groups } }: Session): number {
  return 600 + Buffer.byteLength(subject) + bytesOfGroups(groups)
}
