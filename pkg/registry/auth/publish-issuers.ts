import type { JWTPayload } from 'jose'
import type { ProxyRules } from '../../base/http/http.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { FollowedFile } from '../../base/run/run.ts'
import { gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { KnownCallers } from './callers.ts'
import { originOf } from './ci-claims.ts'
import { type IssuerTimings, TokenIssuer } from './issuer.ts'
import { quote, Refusal } from './refusal.ts'
import {
  type AuthMode,
  type Caller,
  type CallerSession,
  callerHashOf,
  checkSpelling,
  checkToken,
  repositoryConsumer,
  unverifiedClaims,
} from './session.ts'
import { verifySigned } from './token-verifier.ts'

/** An issuer of CI: its tokens give groups `ALIAS:CLAIM:VALUE`. */
export interface PublishIssuer {
  readonly alias: string
  readonly issuer: string
  /** Audience that its tokens must have. */
  readonly audience: string
  /** The claims that become groups. */
  readonly claims: readonly string[]
}

export interface PublishIssuersOptions {
  readonly mode: AuthMode
  readonly file: FollowedFile<readonly PublishIssuer[]>
  readonly known: KnownCallers
  readonly proxies?: ProxyRules | undefined
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  readonly timings?: Partial<IssuerTimings> | undefined
}

interface Trusted extends PublishIssuer {
  readonly keys: TokenIssuer
}

const again = 'have the job request a new token'

/** Callers with a token of an issuer of CI. Nothing of a token counts before its signature was verified. */
export class PublishIssuers {
  readonly #options: PublishIssuersOptions
  /** By the URL of the issuer. */
  #trusted = new Map<string, Trusted>()
  readonly #unfollow: () => void

  constructor(options: PublishIssuersOptions) {
    this.#options = options
    this.#take()
    this.#unfollow = options.file.onChange(() => this.#take())
    gauge(options.metrics, {
      name: 'auth_publish_issuer_keys_last_success_timestamp_seconds',
      help: 'When the keys of an issuer of --publish-issuers were fetched last; 0: never.',
      labels: ['alias'],
      collect: (it) => {
        it.reset()
        for (const { alias, keys } of this.#trusted.values()) {
          it.set({ alias }, keys.succeededMs / 1000)
        }
      },
    })
  }

  /** The caller of a token of one of these issuers; undefined for any other token. @throws Refusal */
  identify(token: string, hash: string): Promise<CallerSession> | undefined {
    const issuer = unverifiedClaims(token)?.iss
    const trusted = typeof issuer === 'string' ? this.#trusted.get(issuer) : undefined
    if (trusted === undefined) return undefined
    checkToken(token)
    checkSpelling(token)
    return trusted.keys.verifying.run(hash, () => this.#verify(token, hash, trusted))
  }

  /** Whether only tokens of these issuers may have a group. */
  isReserved(group: string): boolean {
    for (const { alias } of this.#trusted.values()) if (group.startsWith(`${alias}:`)) return true
    return false
  }

  /** Issuers whose tokens get 503, and why. */
  impaired(): readonly string[] {
    return [...this.#trusted.values()].flatMap(({ keys }) => keys.problem ?? [])
  }

  async close(): Promise<void> {
    this.#unfollow()
    this.#options.file.close()
    await Promise.all([...this.#trusted.values()].map(({ keys }) => keys.close()))
  }

  /** Keeps the keys of issuers that stay. */
  #take(): void {
    const { file, known } = this.#options
    const before = this.#trusted
    this.#trusted = new Map(
      file.current.map((entry) => {
        const keys = before.get(entry.issuer)
        const isKept = keys?.alias === entry.alias
        return [entry.issuer, { ...entry, keys: isKept ? keys.keys : this.#open(entry) }]
      }),
    )
    for (const [issuer, { keys }] of before) {
      if (this.#trusted.get(issuer)?.keys !== keys) void keys.close()
    }
    // Groups of everybody depend on the aliases.
    known.forget()
  }

  #open({ alias, issuer: issuerUrl }: PublishIssuer): TokenIssuer {
    const { log, clock, proxies, timings, known } = this.#options
    const name = `the publish issuer ${alias}`
    const child = log.child({ component: 'auth', alias })
    const option = '--publish-issuers'
    const keys = new TokenIssuer({ issuerUrl, name, option, proxies, log: child, clock, timings })
    keys.start(() => known.forget())
    return keys
  }

  async #verify(token: string, hash: string, trusted: Trusted): Promise<CallerSession> {
    const { mode, known, clock } = this.#options
    const { issuer: issuerUrl, alias, audience, keys: issuer } = trusted
    const { keys } = issuer
    const signed = await verifySigned(token, issuer, { issuerUrl, clock, again })
    const { payload, subject, audiences, expiresAtMs } = signed
    if (!audiences.includes(audience)) {
      throw new Refusal(
        'WrongAudience',
        `the token's claim aud is ${quote(payload.aud)}, and this registry takes tokens of ${quote(issuerUrl)} for ${quote(audience)}: have the job request its token for that audience`,
      )
    }
    const origin = originOf(payload, issuerUrl)
    const { repository } = origin
    const name = repository && repositoryConsumer(alias, repository)
    const caller: Caller = {
      mode,
      kind: 'machine',
      subject,
      groups: groupsOf(payload, trusted),
      isJob: true,
      // Strangers have such tokens, too.
      consumer: name
        ? () => (typeof known.viewOfSession(session) === 'object' ? name : undefined)
        : undefined,
      hash: callerHashOf(known.hashOf(`${issuerUrl} ${subject}`)),
      origin,
    }
    const session: CallerSession = { caller }
    // Keys or entries that changed meanwhile may say otherwise.
    const isCurrent = this.#trusted.get(issuerUrl) === trusted && issuer.keys === keys
    if (isCurrent) known.keep(hash, session, expiresAtMs)
    return session
  }
}

/** The groups of a token of CI: the texts, whole numbers, booleans and lists of texts among the named claims. */
export function groupsOf(
  payload: JWTPayload,
  { alias, claims }: Pick<PublishIssuer, 'alias' | 'claims'>,
): readonly string[] {
  return claims.flatMap((claim) => {
    const value = Object.hasOwn(payload, claim) ? payload[claim] : undefined
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    const isList = Array.isArray(value)
    if (!values.every((one) => typeof one === 'string' || (!isList && isPlain(one)))) return []
    return values.map((one) => `${alias}:${claim}:${String(one)}`)
  })
}

/** Larger numbers are not exact, so that two ids could be one. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'boolean' || Number.isSafeInteger(value)
