import { SpoolTooSmallError } from '../../archives/spool/spool.ts'
import { EgressError, RateLimitedError, StatusError } from '../egress/egress.ts'
import { SourceError } from './errors.ts'

/** What a failure of the way out means for a source; anything else is passed on. */
export function sourceError(
  thrown: unknown,
  nowMs: number,
  tooLarge: 'FetchFailed' | 'ArchiveTooLarge',
): unknown {
  if (thrown instanceof RateLimitedError) {
    const retryAfterMs = Math.max(0, thrown.untilMs - nowMs)
    return new SourceError('RateLimited', thrown.message, { cause: thrown, retryAfterMs })
  }
  if (thrown instanceof StatusError) return statusError(thrown.status, thrown.message, thrown)
  if (thrown instanceof EgressError)
    return new SourceError(reasonOf(thrown, tooLarge), thrown.message, { cause: thrown })
  if (thrown instanceof SpoolTooSmallError) {
    return new SourceError('ArchiveTooLarge', thrown.message, { cause: thrown })
  }
  return thrown
}

function reasonOf({ reason }: EgressError, tooLarge: 'FetchFailed' | 'ArchiveTooLarge') {
  if (reason === 'Refused') return 'EgressRefused'
  if (reason === 'TooLarge') return tooLarge
  return reason === 'DiskFailed' ? 'WaitingForSpool' : 'FetchFailed'
}

/** What an unexpected status means. @param what was asked for, with the URL as it may be shown */
export function statusError(status: number, what: string, cause?: unknown): SourceError {
  if (status === 404 || status === 410) {
    // Many hosts say so of what they keep from a caller, too.
    const message = `${what}: check its name, and whether reading it needs a credential`
    return new SourceError('NotFound', message, { cause })
  }
  if (status === 401 || status === 403) {
    const message = `${what}: check that its credential is valid and may read it`
    return new SourceError('AccessDenied', message, { cause })
  }
  return new SourceError('FetchFailed', what, { cause })
}
