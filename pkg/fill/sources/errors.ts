import type { ArchiveLimits } from '../../archives/archive/archive.ts'
import { mayPass, printable, type Reason, ReasonError } from '../../base/errors/errors.ts'

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
