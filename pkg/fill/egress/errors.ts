import { type Reason, ReasonError } from '../../base/errors/errors.ts'

interface EgressErrorOptions {
  readonly cause?: unknown
  readonly retryAfterMs?: number
  readonly status?: number
}

/** A request without a usable answer. Its message is printable and has neither query nor credentials. */
export class EgressError extends ReasonError {
  override readonly name = 'EgressError'
  /** BadStatus only: the status of the answer. */
  readonly status: number | undefined

  constructor(reason: Reason, message: string, options: EgressErrorOptions = {}) {
    super(reason, message, options)
    this.status = options.status
  }
}
