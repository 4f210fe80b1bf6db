/** The error that callers see: its reasons, and what each means to a client. Answers are made of it in pkg/base/serving. */

/** What each reason means to a client: the HTTP status, and whether asking again can help. */
const reasons = {
  BadRequest: { status: 400, retry: false },
  Unauthenticated: { status: 401, retry: false },
  Forbidden: { status: 403, retry: false },
  NotFound: { status: 404, retry: false },
  MethodNotAllowed: { status: 405, retry: false },
  TooLarge: { status: 413, retry: false },
  RangeNotSatisfiable: { status: 416, retry: false },
  Internal: { status: 500, retry: false },
  NotConfigured: { status: 501, retry: false },
  BadGateway: { status: 502, retry: true },
  Unavailable: { status: 503, retry: true },
  GatewayTimeout: { status: 504, retry: true },
} as const

/** Stable and greppable: also the `reason` of log lines and metrics. */
export type Reason = keyof typeof reasons

/**
 * The error that becomes an answer: what packages throw of their own kind (a refusal, an error of an expression, of a
 * source) is made one of these before a caller sees it. Its message is for the caller, so it says what to do next and holds
 * no stack and no internal address; those belong into `cause`, which only the log shows.
 */
export class RegistryError extends Error {
  override readonly name = 'RegistryError'
  readonly reason: Reason
  /** Response headers that go with the error, such as `Retry-After` (seconds). */
  readonly headers: Readonly<Record<string, string>>

  constructor(
    reason: Reason,
    message: string,
    options: { cause?: unknown; headers?: Record<string, string> } = {},
  ) {
    super(message, { cause: options.cause })
    this.reason = reason
    this.headers = options.headers ?? {}
  }

  get status(): (typeof reasons)[Reason]['status'] {
    return reasons[this.reason].status
  }

  /** True where the same request may succeed later. */
  get retry(): boolean {
    return reasons[this.reason].retry
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
