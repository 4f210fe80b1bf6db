/** Why a request got no answer. */
export type EgressReason =
  /** The host, the address or the scheme is not allowed. Asking again changes nothing. */
  | 'Refused'
  /** The host asked to be left alone. */
  | 'RateLimited'
  | 'Unreachable'
  | 'Timeout'
  /** The answer is larger than it may be. */
  | 'TooLarge'
  /** More redirects than allowed, or one that leads nowhere. */
  | 'BadRedirect'
  /** A download was answered with another status than 200. */
  | 'BadStatus'
  /** The file on our side could not be written. */
  | 'DiskFailed'

/** A request that got no answer to use. Its message is printable and holds neither query nor credentials. */
export class EgressError extends Error {
  override readonly name: string = 'EgressError'
  readonly reason: EgressReason

  constructor(reason: EgressReason, message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.reason = reason
  }
}

/** The host has had enough of this credential until a time. */
export class RateLimitedError extends EgressError {
  override readonly name = 'RateLimitedError'
  /** Milliseconds since 1970. */
  readonly untilMs: number

  constructor(message: string, untilMs: number) {
    super('RateLimited', message)
    this.untilMs = untilMs
  }
}

/** What was to be downloaded was answered with another status than 200. */
export class StatusError extends EgressError {
  override readonly name = 'StatusError'
  readonly status: number

  constructor(message: string, status: number) {
    super('BadStatus', message)
    this.status = status
  }
}
