import { retryAfterMs, saidBy } from '../../base/http/http.ts'
import { type Clock, pause } from '../../base/pacing/pacing.ts'
import { EgressError } from './client.ts'

/** Long-term rate of requests, and the size of a burst after a rest. */
const perSecond = 50
const burst = 100
/** Longest wait that a host may ask for. */
const maxWaitMs = 3_600_000
/** The wait if a host does not name one: GitHub asks for it after its secondary limit. */
const defaultWaitMs = 60_000
/** Below this part of a limit only urgent requests continue. */
const reserve = 0.1

/** A host without a connection is not tried again for a while after so many attempts, which take ten seconds each. */
const maxLost = 3
const lostMs = 15_000

/** The message of a limit without what differs each time, for places where a change of the text costs a write. */
export const lastingText = (message: string): string =>
  message.replace(/( limits requests) until [-\dT:]+Z(?: \(status \d+: ".*"\))?/, '$1')

interface AnswerHead {
  readonly status: number
  readonly header: (name: string) => string | undefined
}

/** The requests that a host allows a credential. */
export class Allowance {
  readonly #host: string
  readonly #clock: Clock
  #blockedUntilMs = 0
  /** The answer that asked for the wait. */
  #refusal = ''
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

  /** Requests left until the limit resets; undefined if the host does not report it. */
  get remaining(): number | undefined {
    return this.#clock() < this.#resetMs ? this.#remaining : undefined
  }

  /**
   * Waits for its turn.
   *
   * @throws EgressError RateLimited, or Unreachable after failed attempts
   */
  async take(
    {
      urgent,
      leaves = reserve,
    }: { readonly urgent: boolean; readonly leaves?: number | undefined },
    signal: AbortSignal,
  ): Promise<void> {
    const nowMs = this.#clock()
    if (this.#lost >= maxLost && nowMs < this.#lostUntilMs && !urgent) {
      const message = `${this.#host} cannot be reached: ${maxLost} attempts in a row failed, and Depot tries again soon`
      throw new EgressError('Unreachable', message)
    }
    if (nowMs < this.#blockedUntilMs) throw this.#limited(this.#blockedUntilMs)
    const { remaining } = this
    const isLow = remaining !== undefined && remaining < (this.#limit ?? 0) * leaves
    this.#refusal = ''
    if (isLow && (!urgent || remaining <= 0)) throw this.#limited(this.#resetMs)
    const intervalMs = 1000 / perSecond
    this.#nextMs = Math.max(this.#nextMs, nowMs - burst * intervalMs) + intervalMs
    if (this.#nextMs > nowMs) await pause(this.#nextMs - nowMs, signal)
    signal.throwIfAborted()
  }

  /** Notes that there was no connection. */
  lost(): void {
    this.#lost += 1
    this.#lostUntilMs = this.#clock() + lostMs
  }

  /** Learns from an answer. @param body of a refusal @throws EgressError RateLimited if it asks for a wait */
  learn({ status, header }: AnswerHead, body: Buffer = Buffer.alloc(0)): void {
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
    const saysLimited = /rate limit/i.test(body.toString('latin1'))
    const isLimited =
      status === 429 ||
      (status === 403 && (askedMs !== undefined || remaining === 0 || saysLimited)) ||
      (status === 503 && askedMs !== undefined)
    if (!isLimited) return
    const waitMs = askedMs ?? (isSpent ? this.#resetMs - nowMs : defaultWaitMs)
    this.#blockedUntilMs = nowMs + Math.max(1000, Math.min(waitMs, maxWaitMs))
    this.#refusal = ` (status ${status}: "${saidBy(body.toString())}")`
    throw this.#limited(this.#blockedUntilMs)
  }

  #limited(untilMs: number): EgressError {
    const time = new Date(untilMs).toISOString().slice(0, 19)
    const waitMs = Math.max(0, untilMs - this.#clock())
    const message = `${this.#host} limits requests until ${time}Z${this.#refusal}`
    return new EgressError('RateLimited', message, { retryAfterMs: waitMs })
  }
}
