import type { PublishedBy } from '../../api/v1alpha1/v1alpha1.ts'
import { SingleFlight } from '../../base/pacing/pacing.ts'
import { checkSpelling, checkToken, unverifiedClaims } from './bearer.ts'
import type { Caller } from './caller.ts'
import type { TokenIssuer } from './issuer.ts'
import type { KnownCallers } from './known-callers.ts'
import { quote, Refusal } from './refusal.ts'
import {
  type CallerSession,
  type Callers,
  type ConsumerRules,
  callerHashOf,
  consumerOf,
  type Presented,
  passthroughSession,
} from './session.ts'
import { type TokenRules, verifyToken } from './token-verifier.ts'

export interface IssuerCallersOptions extends TokenRules {
  /** The cluster decides about tokens of other issuers. */
  readonly allowFallback: boolean
  /** The caller as the cluster names it, if the cluster was asked. */
  readonly identityNow: (presented: Presented) => PublishedBy | undefined
  /** Which people are kept as consumers. */
  readonly consumers: ConsumerRules
}

const maxVerifying = 1000

/** Callers with a token of the OIDC issuer. Each token is verified once and remembered until it expires. */
export class IssuerCallers implements Callers {
  readonly #options: IssuerCallersOptions
  readonly #issuer: TokenIssuer
  readonly #known: KnownCallers
  readonly #verifying = new SingleFlight<CallerSession>({
    max: maxVerifying,
    overload: () => new Refusal('Busy', 'too many new tokens at once: try again in a moment'),
  })

  constructor(issuer: TokenIssuer, known: KnownCallers, options: IssuerCallersOptions) {
    this.#issuer = issuer
    this.#known = known
    this.#options = options
  }

  missing(): Refusal {
    return new Refusal(
      'NoCredentials',
      'a token is needed: log in with terraform login, or send "Authorization: Bearer TOKEN"',
    )
  }

  identify(token: string, hash: string): CallerSession | Promise<CallerSession> {
    const { issuerUrl, allowFallback } = this.#options
    checkToken(token)
    const claims = unverifiedClaims(token)
    if (claims === undefined) {
      throw new Refusal(
        'MalformedCredentials',
        'the token is not a signed JWT: log in with terraform login',
      )
    }
    if (claims.iss === issuerUrl) {
      checkSpelling(token)
      return this.#verifying.run(hash, () => this.#verify(token, hash))
    }
    if (allowFallback && typeof claims.iss === 'string') {
      return passthroughSession('oidc', { format: 'token', token, hash }, this.#options.identityNow)
    }
    throw new Refusal(
      'WrongIssuer',
      `the token was issued by ${quote(claims.iss)}, and this registry takes tokens of ${quote(issuerUrl)}: log in with terraform login, or have the server started with --oidc-allow-sa-fallback if it is one of the cluster, or with --publish-issuers if it is one of CI`,
    )
  }

  async #verify(token: string, hash: string): Promise<CallerSession> {
    const { keys } = this.#issuer
    const verified = await verifyToken(token, this.#issuer, this.#options)
    const { kind, subject, groups, expiresAtMs } = verified
    const callerHash = callerHashOf(this.#known.hashOf(subject))
    const name = consumerOf(verified, this.#options.consumers)
    const consumer = name === undefined ? undefined : () => name
    const origin = { issuer: this.#options.issuerUrl }
    const known = { mode: 'oidc', kind, subject, groups, origin } as const
    const caller: Caller = { ...known, consumer, hash: callerHash }
    const session: CallerSession = { caller }
    // If new keys arrived meanwhile, the token was verified with old ones.
    if (this.#issuer.keys === keys) this.#known.keep(hash, session, expiresAtMs)
    return session
  }
}
