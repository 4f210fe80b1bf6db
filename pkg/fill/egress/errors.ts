import { ReasonError } from '../../base/errors/errors.ts'

/** A request that got no answer to use. Its message is printable and has neither query nor credentials. */
export class EgressError extends ReasonError {
  override readonly name: string = 'EgressError'
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
