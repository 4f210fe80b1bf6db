import type * as z from 'zod'
import type { ArchiveLimits } from '../../archives/archive/archive.ts'
import {
  hasMoreValues,
  jsonOf,
  mayPass,
  printable,
  type Reason,
  ReasonError,
} from '../../base/errors/errors.ts'
import { type EgressAnswer, refusalText, shownUrl } from '../egress/egress.ts'

/** A URL, an answer of 300 characters and advice. */
const maxMessageBytes = 1024

/** The reason why an archive or object cannot be had. The message is one printable line, and says what to do. */
export class FillError extends ReasonError {
  override readonly name = 'FillError'

  constructor(
    reason: Reason,
    message: string,
    options?: { readonly cause?: unknown; readonly retryAfterMs?: number | undefined },
  ) {
    super(reason, printable(message, maxMessageBytes), options)
  }

  /** Whether only a change helps: of a resource, a Secret, an option or the upstream. */
  get terminal(): boolean {
    return !mayPass(this.reason)
  }
}

/** The refusal of an archive that is larger than allowed. */
export function archiveTooLarge(
  what: string,
  { kind, packedBytes }: Pick<ArchiveLimits, 'kind' | 'packedBytes'>,
  cause?: unknown,
): FillError {
  const mebibytes = Math.max(1, Math.round(packedBytes / 1024 / 1024))
  const message = `${what} is larger than ${mebibytes} MiB: raise --${kind}-size-limit, or make it smaller`
  return new FillError('ArchiveTooLarge', message, { cause })
}

/** Parsing costs memory for each value, whatever its size. Lists of providers have 30,000 values. */
const maxValues = 200_000

/** The ETag to send with the next request, if it can be sent unchanged. */
export function etagOf({ header }: EgressAnswer): { readonly etag?: string } {
  const etag = header('etag')
  return etag !== undefined && /^[!-~]{1,255}$/.test(etag) ? { etag } : {}
}

/** @throws FillError with the upstream's own message, for any other status */
export function expectStatus(answer: EgressAnswer, ...expected: readonly number[]): EgressAnswer {
  const { status, url, body } = answer
  if (expected.includes(status)) return answer
  throw statusError(status, refusalText(url, status, body))
}

/** @param what the request and its status, with a URL that may be shown */
export function statusError(status: number, what: string, cause?: unknown): FillError {
  if (status === 404 || status === 410) {
    // Many hosts answer so, too, if a caller may not read something.
    const message = `${what}: check its name, and whether reading it needs a credential`
    return new FillError('UpstreamNotFound', message, { cause })
  }
  if (status === 401 || status === 403) {
    const message = `${what}: check that its credential is valid and may read it`
    return new FillError('AccessDenied', message, { cause })
  }
  return new FillError('FetchFailed', what, { cause })
}

/** @throws FillError FetchFailed */
export function parseJson<T>({ body, url, header }: EgressAnswer, schema: z.ZodType<T>): T {
  const at = shownUrl(url)
  if (hasMoreValues(body, maxValues)) {
    const message = `${at} answered with JSON of more than ${maxValues} values`
    throw new FillError('FetchFailed', message)
  }
  const value = jsonOf(body.toString())
  if (value === undefined) {
    const type = printable(header('content-type') ?? 'unknown', 60)
    const message = `${at} answered with status 200 and no JSON (content type ${type})`
    throw new FillError('FetchFailed', message)
  }
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data
  const field = printable(error.issues[0]?.path.join('.') ?? '', 60)
  throw new FillError('FetchFailed', `${at} answered with unexpected JSON, at "${field}"`)
}
