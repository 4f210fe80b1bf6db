/** The reasons of every error, and the error that callers see. pkg/base/serving makes answers of it. */

import { type AnswerReason, mayPass, statusOf } from './reasons.ts'

export {
  type AnswerReason,
  type CallerReason,
  mayPass,
  type Reason,
  type ReasonOf,
  reasonTopics,
  statusOf,
} from './reasons.ts'

/**
 * The error that becomes an answer: what packages throw of their own kind (a refusal, an error of an expression, of a
 * source) is made one of these before a caller sees it. Its message is for the caller, so it says what to do next and holds
 * no stack and no internal address; those belong into `cause`, which only the log shows.
 */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly reason: AnswerReason
  /** Response headers that go with the error, such as `Retry-After` (seconds). */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    reason: AnswerReason,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message, { cause: options.cause })
    this.reason = reason
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
