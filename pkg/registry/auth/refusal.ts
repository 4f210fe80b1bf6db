import { type CallerReason, RegistryError, statusOf } from '../../base/errors/errors.ts'

/** The reason for a refused caller, by status. */
const answers = { 401: 'Unauthenticated', 403: 'Forbidden', 503: 'Unavailable' } as const

/**
 * Thrown inside the package, and counted before it becomes an answer. It may show claims, because the caller has the token,
 * but never a token or a part of one.
 */
export class Refusal extends Error {
  readonly reason: CallerReason
  /** Seconds until the next attempt. */
  readonly retryAfterSeconds: number | undefined

  constructor(
    reason: CallerReason,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number } = {},
  ) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  /** Name in the metric. */
  get result(): string {
    return answers[statusOf(this.reason)].toLowerCase()
  }

  toRegistryError(): RegistryError {
    const { message, cause, retryAfterSeconds } = this
    const reason = answers[statusOf(this.reason)]
    return new RegistryError(reason, message, {
      cause,
      headers: {
        ...(reason === 'Unauthenticated' && { 'WWW-Authenticate': this.#challenge() }),
        ...(retryAfterSeconds !== undefined && { 'Retry-After': String(retryAfterSeconds) }),
      },
    })
  }

  /** RFC 6750, section 3: without credentials there is no error code. */
  #challenge(): string {
    return this.reason === 'NoCredentials'
      ? 'Bearer realm="depot"'
      : 'Bearer realm="depot", error="invalid_token"'
  }
}

const longestQuote = 200

/** A value of a claim for a message, as JSON and shortened. */
export function quote(value: unknown): string {
  let text: string
  try {
    text = JSON.stringify(value) ?? 'nothing'
  } catch {
    // JSON.parse reads deeper than JSON.stringify writes.
    return 'nested too deeply'
  }
  return text.length > longestQuote ? `${text.slice(0, longestQuote)}…` : text
}
