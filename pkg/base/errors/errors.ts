/** The reasons of every error, and the error that callers see. pkg/base/serving makes answers of it. */

import { type AnswerReason, mayPass, type Reason, statusOf } from './reasons.ts'

export {
  type AnswerReason,
  type CallerReason,
  mayPass,
  type Reason,
  type ReasonOf,
  reasonTopics,
  statusOf,
} from './reasons.ts'

/** An error with a reason of the table. What is thrown for one reason and caught by it needs no class of its own. */
export class ReasonError<R extends Reason = Reason> extends Error {
  override readonly name: string = 'ReasonError'
  readonly reason: R
  /** After how many milliseconds to try again at the earliest; undefined where nobody says. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: R,
    message: string,
    { cause, retryAfterMs }: { cause?: unknown; retryAfterMs?: number | undefined } = {},
  ) {
    super(message, { cause })
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

/**
 * The error that becomes an answer: packages make one of these of their own errors before a caller sees it. Its message is
 * for the caller, so it says what to do next and has no stack and no internal address; those belong in `cause`, which only
 * the log shows.
 */
export class RegistryError extends ReasonError<AnswerReason> {
  override readonly name = 'RegistryError'
  /** Response headers that go with the error, such as `Retry-After` (seconds). */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    reason: AnswerReason,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(reason, message, options)
    this.headers = options.headers ?? {}
  }

  get status(): ReturnType<typeof statusOf<AnswerReason>> {
    return statusOf(this.reason)
  }

  /** True where the same request may succeed later. */
  get retry(): boolean {
    return mayPass(this.reason)
  }
}

export function hasReason(thrown: unknown, reason: Reason): boolean {
  return thrown instanceof ReasonError && thrown.reason === reason
}

export function notFound(message: string, cause?: unknown): RegistryError {
  return new RegistryError('NotFound', message, { cause })
}

/** For what is likely to work in a moment; the answer says when to come again. */
export function unavailable(message: string, cause?: unknown): RegistryError {
  return new RegistryError('Unavailable', `${message}; try again in a moment`, { cause })
}

/**
 * The message of whatever was thrown; some have several lines. Node gives none, but a code, where all addresses of a host
 * refuse.
 */
export function messageOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown)
  const { code } = thrown as NodeJS.ErrnoException
  return thrown.message || (typeof code === 'string' && code) || thrown.name
}
