import type { ReasonOf } from '../../base/errors/errors.ts'
import type { Outcome } from './outcome.ts'

/** Why an object could not be read or written. */
export type ApiErrorReason = ReasonOf<
  | 'Conflict'
  | 'AlreadyExists'
  | 'NotFound'
  | 'Invalid'
  | 'TooLarge'
  | 'Forbidden'
  | 'Unauthenticated'
  | 'NotHeld'
  | 'Unavailable'
>

/** An object could not be read or written. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly reason: ApiErrorReason
  /** How long the API server asks to be left alone; undefined: it does not say. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: ApiErrorReason,
    message: string,
    { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.reason = reason
    this.retryAfterMs = retryAfterMs
  }
}

const reasonOfCode: Readonly<Record<number, ApiErrorReason>> = {
  400: 'Invalid',
  401: 'Unauthenticated',
  403: 'Forbidden',
  404: 'NotFound',
  405: 'Forbidden',
  409: 'Conflict',
  410: 'NotFound',
  413: 'TooLarge',
  415: 'Invalid',
  422: 'Invalid',
}

const advice: Partial<Record<ApiErrorReason, string>> = {
  Forbidden: 'give its Role or ClusterRole this right',
  Unauthenticated: 'the credentials of this process are not accepted',
}

/** @param doing what was asked for, such as `patch versions/status team/network-1-0-0` */
export function apiErrorOf(outcome: Outcome, doing: string): ApiError {
  const { code = 0, word, message, retryAfterMs, err } = outcome
  const known = outcome.reason === 'NoCredentials' ? 'Unauthenticated' : reasonOfCode[code]
  const reason = code === 409 && word === 'AlreadyExists' ? word : (known ?? 'Unavailable')
  const hint = advice[reason] === undefined ? '' : `; ${advice[reason]}`
  return new ApiError(reason, `${doing}: ${message}${hint}`, {
    ...(retryAfterMs > 0 && { retryAfterMs }),
    cause: err,
  })
}
