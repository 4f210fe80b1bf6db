import { Bounded } from '../memory/memory.ts'
import { SingleFlight } from '../pacing/pacing.ts'
import { bearerTokenOf } from './bearer.ts'
import type { Caller } from './caller.ts'
import { hashCharacters, passthroughSession } from './cluster-callers.ts'
import type { Issuer } from './issuer.ts'
import { readUnchecked } from './jwt-claims.ts'
import { Refusal } from './refusal.ts'
import type { Callers, Session } from './session.ts'
import { type TokenRules, verifyToken } from './token-verifier.ts'

export interface IssuerCallersOptions extends TokenRules {
  /** Callers without a token are guests. */
  readonly allowGuests: boolean
  /** Tokens of other issuers are for the cluster to judge. */
  readonly allowFallback: boolean
  readonly keyedHash: (text: string) => string
}

const maxRemembered = 50_000
const maxVerifying = 1000

/** Callers with a token of the OIDC issuer. Each token is checked once, and then known until it expires. */
export class IssuerCallers implements Callers {
  readonly #options: IssuerCallersOptions
  readonly #issuer: Issuer
  readonly #sessions: Bounded<Session>
  readonly #verifying = new SingleFlight<Session>({
    max: maxVerifying,
    overload: () =>
      new Refusal('cluster_away', 'too many new tokens at once: try again in a moment'),
  })
  readonly #guest: Session = {
    caller: { mode: 'oidc', kind: 'guest', subject: undefined, groups: [], hash: undefined },
  }

  constructor(issuer: Issuer, options: IssuerCallersOptions) {
    this.#issuer = issuer
    this.#options = options
    this.#sessions = new Bounded({ maxEntries: maxRemembered, clock: options.clock })
  }

  /** Forgets every token, because a key may have been withdrawn. */
  forget(): void {
    this.#sessions.clear()
  }

  identify(authorization: string | undefined): Session | Promise<Session> {
    const { allowGuests, keyedHash } = this.#options
    if (authorization === undefined) {
      if (allowGuests) return this.#guest
      throw new Refusal(
        'missing',
        'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
      )
    }
    const hash = keyedHash(authorization)
    return this.#sessions.get(hash) ?? this.#newcomer(authorization, hash)
  }

  known(authorization: string | undefined): Session | undefined {
    const { allowGuests, keyedHash } = this.#options
    if (authorization === undefined) return allowGuests ? this.#guest : undefined
    return this.#sessions.get(keyedHash(authorization))
  }

  #newcomer(authorization: string, hash: string): Session | Promise<Session> {
    const { issuerUrl, allowFallback } = this.#options
    const token = bearerTokenOf(authorization) ?? ''
    const claims = readUnchecked(token)
    if (claims === undefined) {
      throw new Refusal('malformed', 'the token is no signed JWT: log in with terraform login')
    }
    if (claims.issuer === issuerUrl) {
      return this.#verifying.run(hash, () => this.#verify(token, hash))
    }
    if (allowFallback && claims.issuer !== undefined) {
      return passthroughSession('oidc', 'token', authorization, hash)
    }
    throw new Refusal(
      'issuer',
      'the token is of another issuer: log in with terraform login, or have the server started with --oidc-allow-sa-fallback if it is one of the cluster',
    )
  }

  async #verify(token: string, hash: string): Promise<Session> {
    const { keys } = this.#issuer
    const verified = await verifyToken(token, this.#issuer, this.#options)
    const { kind, subject, groups, expiresAtMs } = verified
    const callerHash = this.#options.keyedHash(subject).slice(0, hashCharacters)
    const caller: Caller = { mode: 'oidc', kind, subject, groups, hash: callerHash }
    const session: Session = { caller }
    // Keys that came while it was being checked may be others than those that it was checked with.
    if (this.#issuer.keys === keys) this.#sessions.set(hash, session, expiresAtMs)
    return session
  }
}
