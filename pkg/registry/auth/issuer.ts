import { createLocalJWKSet, type LocalJWKSet } from 'jose'
import { hasReason, messageOf } from '../../base/errors/errors.ts'
import { createPool, type Pool, type ProxyRules, readBounded } from '../../base/http/http.ts'
import { backoffMs, type Clock, SingleFlight } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import {
  type KeySet,
  type ProviderMetadata,
  parseKeySet,
  parseMetadata,
} from './provider-metadata.ts'
import { Refusal } from './refusal.ts'
import type { CallerSession } from './session.ts'

export interface TokenIssuerOptions {
  readonly issuerUrl: string
  /** Its name in messages. Default: the OIDC issuer. */
  readonly name?: string
  /** The option that has its URL. Default: --oidc-issuer-url. */
  readonly option?: string
  /** Address of the issuer inside the network: scheme, host and port. */
  readonly reachedAt?: string | undefined
  /** Proxies. Default: none. */
  readonly proxies?: ProxyRules | undefined
  readonly log: Logger
  readonly clock: Clock
  readonly timings?: Partial<IssuerTimings> | undefined
}

/** All in milliseconds. */
export interface IssuerTimings {
  /** Age at which keys are fetched again, so that a withdrawn key is forgotten. */
  readonly refreshMs: number
  /** Minimum time between two attempts because of unknown keys: anyone can invent a key. */
  readonly unknownKeyMs: number
  readonly firstRetryMs: number
  readonly maxRetryMs: number
  readonly timeoutMs: number
}

const defaultTimings: IssuerTimings = {
  refreshMs: 15 * 60_000,
  unknownKeyMs: 10_000,
  firstRetryMs: 1000,
  maxRetryMs: 30_000,
  timeoutMs: 5000,
}

const maxDocumentBytes = 1024 * 1024
/** Limit of new tokens that are verified at the same time. */
const maxVerifying = 1000
const longestFirstAttemptMs = 5_000

/** Result of fetching the keys again: there are new ones, they are unchanged, or fetching was impossible. */
export type Look = 'changed' | 'unchanged' | 'impossible'

/** The metadata and keys of the OIDC provider. They are kept while it is unreachable. */
export class TokenIssuer {
  /** Verifies new tokens, by their hash. Tokens of an issuer that does not answer hold up those of no other one. */
  readonly verifying = new SingleFlight<CallerSession>({
    max: maxVerifying,
    overload: () => new Refusal('Busy', 'too many new tokens at once: try again in a moment'),
  })
  readonly #options: TokenIssuerOptions
  readonly #timings: IssuerTimings
  readonly #pool: Pool
  readonly #started = Promise.withResolvers<void>()
  #onChange: () => void = () => undefined
  #metadata: ProviderMetadata | undefined
  #keys: LocalJWKSet | undefined
  #keysText = ''
  #refreshing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #attemptedMs = Number.NEGATIVE_INFINITY
  #succeededMs = 0
  #failures = 0
  #lastError: string | undefined
  #wasAsked = false
  #closed = false

  constructor(options: TokenIssuerOptions) {
    this.#options = options
    this.#timings = { ...defaultTimings, ...options.timings }
    const { timeoutMs } = this.#timings
    this.#pool = createPool({
      connections: 4,
      connectMs: timeoutMs,
      headersMs: timeoutMs,
      idleMs: timeoutMs,
      totalMs: timeoutMs,
      proxies: options.proxies,
    })
    this.#started.promise.catch(() => undefined)
  }

  /** Its name in messages. */
  get name(): string {
    return this.#options.name ?? 'the OIDC issuer'
  }

  /** @param onChange called when the keys change */
  start(onChange: () => void): void {
    this.#onChange = onChange
    const asked = (): void => {
      clearTimeout(timer)
      this.#wasAsked = true
    }
    const timer = setTimeout(asked, longestFirstAttemptMs).unref()
    void this.#refresh().then(asked)
  }

  /** True when the first attempt to fetch the keys is over, or takes more than five seconds. */
  get wasAsked(): boolean {
    return this.#wasAsked
  }

  /** Resolves when the keys are known. @throws ReasonError WrongIssuer */
  get started(): Promise<void> {
    return this.#started.promise
  }

  get metadata(): ProviderMetadata | undefined {
    return this.#metadata
  }

  get keys(): LocalJWKSet | undefined {
    return this.#keys
  }

  /** The error if the last attempt to fetch the keys failed. */
  get lastError(): string | undefined {
    return this.#lastError
  }

  /** Why callers with its tokens may get 503, if they may. */
  get problem(): string | undefined {
    const { name } = this
    if (this.#keys !== undefined && this.#lastError === undefined) return undefined
    const what =
      this.#keys === undefined
        ? `tokens of ${name} cannot be checked, because its keys are being fetched`
        : `tokens of ${name} are checked with the previously fetched keys, because fetching them again failed`
    return this.#lastError === undefined ? what : `${what}: ${this.#lastError}`
  }

  /** When the keys were fetched last, in milliseconds since 1970; 0: never. */
  get succeededMs(): number {
    return this.#succeededMs
  }

  /** Seconds until the keys are fetched again. */
  get retryAfterSeconds(): number {
    const seconds = Math.ceil((this.#dueMs - this.#options.clock()) / 1000)
    return Number.isFinite(seconds) ? Math.max(1, seconds) : 5
  }

  /**
   * Fetches the keys because a token cannot be verified with the known ones, now or, after a recent attempt, later. Never
   * rejects. Concurrent callers share one attempt.
   */
  async lookAgain(): Promise<Look> {
    const before = this.#keysText
    const waitMs = this.#attemptedMs + this.#timings.unknownKeyMs - this.#options.clock()
    if (this.#refreshing === undefined && waitMs > 0) {
      this.#schedule(waitMs)
      return 'impossible'
    }
    await this.#refresh()
    if (this.#lastError !== undefined) return 'impossible'
    return this.#keysText === before ? 'unchanged' : 'changed'
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#pool.close()
  }

  /** Makes the next attempt no later than this. */
  #schedule(delayMs: number): void {
    const dueMs = this.#options.clock() + delayMs
    if (this.#closed || dueMs >= this.#dueMs) return
    clearTimeout(this.#timer)
    this.#dueMs = dueMs
    this.#timer = setTimeout(() => void this.#refresh(), delayMs).unref()
  }

  #refresh(): Promise<void> {
    this.#refreshing ??= this.#fetch().finally(() => {
      this.#refreshing = undefined
      this.#dueMs = Number.POSITIVE_INFINITY
      clearTimeout(this.#timer)
      this.#schedule(this.#nextDelayMs())
    })
    return this.#refreshing
  }

  async #fetch(): Promise<void> {
    const { issuerUrl, option = '--oidc-issuer-url', log, clock } = this.#options
    this.#attemptedMs = clock()
    try {
      const wellKnown = `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`
      const metadata = parseMetadata(await this.#get(wellKnown), issuerUrl, option)
      const keys = parseKeySet(await this.#get(metadata.jwks_uri))
      if (this.#failures > 0) log.info({ issuer: issuerUrl }, `keys of ${this.name} fetched`)
      this.#failures = 0
      this.#lastError = undefined
      this.#succeededMs = clock()
      this.#metadata = metadata
      this.#takeKeys(keys)
      this.#started.resolve()
    } catch (err) {
      if (this.#closed) return
      this.#failures += 1
      this.#lastError = reasonOf(err)
      log.warn({ issuer: issuerUrl, err }, `keys of ${this.name} cannot be fetched`)
      if (hasReason(err, 'WrongIssuer')) this.#started.reject(err)
    }
  }

  #takeKeys(keys: KeySet): void {
    const text = JSON.stringify(keys)
    if (text === this.#keysText) return
    this.#keysText = text
    this.#keys = createLocalJWKSet(keys)
    this.#onChange()
  }

  #get(url: string): Promise<unknown> {
    const { issuerUrl, reachedAt } = this.#options
    const { origin, host, protocol } = new URL(url)
    if (reachedAt === undefined || origin !== new URL(issuerUrl).origin) {
      return this.#json(url, origin, {})
    }
    // Adds the headers of a proxy: an issuer may derive its endpoints from the requested address.
    const forwarded = { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) }
    return this.#json(url, reachedAt, forwarded)
  }

  /**
   * Redirects are not followed: the operator named the address.
   *
   * @throws Error that describes the failure, without the content
   */
  async #json(url: string, origin: string, own: Record<string, string>): Promise<unknown> {
    const { pathname, search } = new URL(url)
    const headers = { accept: 'application/json', 'user-agent': 'depot', ...own }
    const request = { method: 'GET', path: pathname + search, headers } as const
    const { status, body } = await this.#pool.send({ origin }, request)
    const bytes = await readBounded(body, maxDocumentBytes)
    const asked = `${origin}${pathname}`
    if (status !== 200) throw new Error(`${asked} answered ${status}`)
    try {
      return JSON.parse(bytes.toString())
    } catch {
      throw new Error(`${asked} did not answer JSON`)
    }
  }

  /** With jitter, so that replicas do not ask at the same time. */
  #nextDelayMs(): number {
    const { refreshMs, firstRetryMs: firstMs, maxRetryMs: capMs } = this.#timings
    if (this.#failures === 0) return refreshMs * (0.75 + Math.random() / 2)
    return backoffMs({ firstMs, capMs, jitter: 'equal' }, this.#failures)
  }
}

/** Undici wraps some causes, and some errors have only a code. */
function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : ''
  return [messageOf(thrown) || code, cause && messageOf(cause)].filter(Boolean).join(': ')
}
