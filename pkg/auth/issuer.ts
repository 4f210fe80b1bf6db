import { createLocalJWKSet, type LocalJWKSet } from 'jose'
import { Agent } from 'undici'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'
import { fetchJson } from './fetch-json.ts'
import {
  IssuerMismatch,
  type KeySet,
  type ProviderMetadata,
  parseKeySet,
  parseMetadata,
} from './provider-metadata.ts'

export interface IssuerOptions {
  readonly issuerUrl: string
  /** Where the issuer is reached instead of at its own address: scheme, host and port. */
  readonly reachedAt?: string | undefined
  readonly log: Logger
  readonly metrics: Metrics
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** From 0 up to, and without, 1. */
  readonly random: () => number
  readonly timings?: Partial<IssuerTimings>
}

/** All in milliseconds. */
export interface IssuerTimings {
  /** How old keys may become before they are fetched again, so that a withdrawn one is forgotten. */
  readonly refreshMs: number
  /** Least time between two attempts that unknown keys cause: anybody can make a key up. */
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

const maxWaiting = 100

/** The OIDC provider, as far as it is needed: its metadata and its keys, which outlive its absence. */
export class Issuer {
  readonly #options: IssuerOptions
  readonly #timings: IssuerTimings
  readonly #agent = new Agent({ allowH2: false, connections: 4 })
  readonly #started = Promise.withResolvers<void>()
  readonly #onChange: () => void
  #metadata: ProviderMetadata | undefined
  #keys: LocalJWKSet | undefined
  #keysText = ''
  #refreshing: Promise<void> | undefined
  #timer: NodeJS.Timeout | undefined
  #dueMs = Number.POSITIVE_INFINITY
  #attemptedMs = Number.NEGATIVE_INFINITY
  #succeededMs = 0
  #failures = 0
  /** Requests that wait for keys because their token names one that is not known. */
  #waiting = 0
  #closed = false

  /** @param onChange called when the keys are other ones than before */
  constructor(options: IssuerOptions, onChange: () => void) {
    this.#options = options
    this.#timings = { ...defaultTimings, ...options.timings }
    this.#onChange = onChange
    this.#started.promise.catch(() => undefined)
    gauge(
      options.metrics,
      {
        name: 'auth_jwks_last_success_timestamp_seconds',
        help: 'When the keys of the OIDC issuer were fetched last; 0: never.',
      },
      (it) => it.set(this.#succeededMs / 1000),
    )
    void this.#refresh()
  }

  /** Resolves when the keys are known. @throws IssuerMismatch */
  get started(): Promise<void> {
    return this.#started.promise
  }

  get metadata(): ProviderMetadata | undefined {
    return this.#metadata
  }

  get keys(): LocalJWKSet | undefined {
    return this.#keys
  }

  /**
   * Fetches the keys because a token names one that is not known; not too often, but then later. Never rejects.
   *
   * @returns whether it was worth asking again
   */
  async missesKey(): Promise<boolean> {
    const before = this.#keysText
    const waitMs = this.#attemptedMs + this.#timings.unknownKeyMs - this.#options.clock()
    if (this.#refreshing === undefined && waitMs > 0) {
      this.#schedule(waitMs)
      return false
    }
    // Whoever makes up key ids must not hold the places of those who come with known ones.
    if (this.#waiting >= maxWaiting) return false
    this.#waiting += 1
    try {
      await this.#refresh()
    } finally {
      this.#waiting -= 1
    }
    return this.#keysText !== before
  }

  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#agent.destroy()
  }

  /** Sees to it that the next attempt is no later than this. */
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
    const { issuerUrl, log, clock } = this.#options
    this.#attemptedMs = clock()
    try {
      const wellKnown = `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`
      const metadata = parseMetadata(await this.#get(wellKnown), issuerUrl)
      const keys = parseKeySet(await this.#get(metadata.jwks_uri))
      if (this.#failures > 0) log.info({ issuer: issuerUrl }, 'keys of the OIDC issuer fetched')
      this.#failures = 0
      this.#succeededMs = clock()
      this.#metadata = metadata
      this.#takeKeys(keys)
      this.#started.resolve()
    } catch (err) {
      if (this.#closed) return
      this.#failures += 1
      log.warn({ issuer: issuerUrl, err }, 'keys of the OIDC issuer cannot be fetched')
      if (err instanceof IssuerMismatch) this.#started.reject(err)
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
    const { origin, pathname, search, host, protocol } = new URL(url)
    const shared = { dispatcher: this.#agent, timeoutMs: this.#timings.timeoutMs }
    if (reachedAt === undefined || origin !== new URL(issuerUrl).origin) {
      return fetchJson(url, shared)
    }
    // As if it had come through the proxy: an issuer may name its endpoints after the address that it is asked by.
    const headers = { 'x-forwarded-host': host, 'x-forwarded-proto': protocol.slice(0, -1) }
    return fetchJson(`${reachedAt}${pathname}${search}`, { ...shared, headers })
  }

  /** With jitter, so that replicas do not ask together. */
  #nextDelayMs(): number {
    const { refreshMs, firstRetryMs, maxRetryMs } = this.#timings
    const delayMs =
      this.#failures === 0
        ? refreshMs
        : Math.min(maxRetryMs, firstRetryMs * 2 ** (this.#failures - 1))
    return delayMs * (0.75 + this.#options.random() / 2)
  }
}
