import { mayPass, type Reason, ReasonError } from '../../base/errors/errors.ts'
import { printable } from '../egress/egress.ts'

/** Why a source did not give what was asked for. The message has at most 256 bytes, all printable, and says what to do. */
export class SourceError extends ReasonError {
  override readonly name = 'SourceError'

  constructor(
    reason: Reason,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(reason, printable(message), options)
  }

  /** Whether nothing changes until a person changes a resource, a Secret, an option or the upstream. */
  get terminal(): boolean {
    return !mayPass(this.reason)
  }
}
