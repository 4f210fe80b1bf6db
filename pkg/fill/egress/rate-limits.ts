import { retryAfterMs } from '../../base/http/http.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { type Clock, pause } from '../../base/pacing/pacing.ts'
import { EgressError, RateLimitedError } from './errors.ts'

/** Requests a second in the long run, and at once after a rest. */
const perSecond = 50
const burst = 100
/** Hosts may ask for patience, but none for ever. */
const maxWaitMs = 3_600_000
/** Where a host does not say how long: what GitHub asks of those who met its secondary limit. */
const defaultWaitMs = 60_000
/** Below this part of a limit only urgent requests go on. */
const reserve = 0.1

/** A host that gave no connection so often in a row is left alone for a while: each try takes its ten seconds. */
const maxLost = 3
const lostMs = 15_000

interface Head {
  readonly status: number
  readonly header: (name: string) => string | undefined
}

/** What a host lets a credential do. */
export class Allowance {
  readonly #host: string
  readonly #clock: Clock
  #blockedUntilMs = 0
  #limit: number | undefined
  #remaining: number | undefined
  #resetMs = 0
  #nextMs = 0
  #lost = 0
  #lostUntilMs = 0

  constructor(host: string, clock: Clock) {
    this.#host = host
    this.#clock = clock
  }

  /** Requests that are left until the limit begins again; undefined where the host does not say. */
  get remaining(): number | undefined {
    return this.#clock() < this.#resetMs ? this.#remaining : undefined
  }

  /** Waits for its turn. @throws RateLimitedError where the host wants none of it now, EgressError where it is away */
  async take(urgent: boolean, signal: AbortSignal): Promise<void> {
    const nowMs = this.#clock()
    if (this.#lost >= maxLost && nowMs < this.#lostUntilMs && !urgent) {
      const message = `${this.#host} cannot be reached: ${maxLost} tries in a row failed, the next is soon`
      throw new EgressError('Unreachable', message)
    }
    if (nowMs < this.#blockedUntilMs) throw this.#limited(this.#blockedUntilMs)
    const { remaining } = this
    const isLow = remaining !== undefined && remaining < (this.#limit ?? 0) * reserve
    if (isLow && (!urgent || remaining <= 0)) throw this.#limited(this.#resetMs)
    const intervalMs = 1000 / perSecond
    this.#nextMs = Math.max(this.#nextMs, nowMs - burst * intervalMs) + intervalMs
    if (this.#nextMs > nowMs) await pause(this.#nextMs - nowMs, signal)
    signal.throwIfAborted()
  }

  /** There was no connection. */
  lost(): void {
    this.#lost += 1
    this.#lostUntilMs = this.#clock() + lostMs
  }

  /** Learns from an answer. @throws RateLimitedError where it says to wait */
  learn({ status, header }: Head, saysLimited: boolean): void {
    this.#lost = 0
    const nowMs = this.#clock()
    const number = (name: string) => {
      const text = header(name)
      return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined
    }
    const remaining = number('x-ratelimit-remaining')
    const resetSeconds = number('x-ratelimit-reset')
    if (remaining !== undefined && resetSeconds !== undefined) {
      this.#limit = number('x-ratelimit-limit')
      this.#remaining = remaining
      this.#resetMs = Math.min(resetSeconds * 1000, nowMs + maxWaitMs)
    }
    const askedMs = retryAfterMs(header('retry-after'), nowMs)
    const isSpent = remaining === 0 && this.#resetMs > nowMs
    const isLimited =
      status === 429 ||
      (status === 403 && (askedMs !== undefined || remaining === 0 || saysLimited)) ||
      (status === 503 && askedMs !== undefined)
    if (!isLimited) return
    const waitMs = askedMs ?? (isSpent ? this.#resetMs - nowMs : defaultWaitMs)
    this.#blockedUntilMs = nowMs + Math.max(1000, Math.min(waitMs, maxWaitMs))
    throw this.#limited(this.#blockedUntilMs)
  }

  #limited(untilMs: number): RateLimitedError {
    const time = new Date(untilMs).toISOString().slice(0, 19)
    return new RateLimitedError(`${this.#host} limits requests until ${time}Z`, untilMs)
  }
}

/** One allowance for each host and credential. */
export class Allowances {
  readonly #clock: Clock
  readonly #known = new Bounded<Allowance>({ maxEntries: 2000 })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  of(host: string, credentialId: string | undefined): Allowance {
    return this.#known.getOrMake(
      JSON.stringify([host, credentialId]),
      () => new Allowance(host, this.#clock),
    )
  }
}
