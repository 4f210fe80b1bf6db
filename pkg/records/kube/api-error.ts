import { type Reason, ReasonError } from '../../base/errors/errors.ts'
import type { Outcome } from './outcome.ts'

/** An object could not be read or written. `retryAfterMs` is how long the API server asks callers to wait. */
export class ApiError extends ReasonError {
  override readonly name = 'ApiError'
}

const reasonOfCode: Readonly<Record<number, Reason>> = {
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

const advice: Partial<Record<Reason, string>> = {
  Forbidden: 'give its Role or ClusterRole this right',
  Unauthenticated: 'the credentials of this process are not accepted',
}

/** @param doing the request, such as `patch versions/status team/network-1-0-0` */
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
