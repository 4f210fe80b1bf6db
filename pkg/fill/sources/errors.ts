import { printable } from '../egress/egress.ts'

/** Whether trying again can help, of each reason: a terminal mistake waits for a change of what was written. */
const reasons = {
  /** Something in the spec cannot work. */
  InvalidSpec: { terminal: true },
  SecretInvalid: { terminal: true },
  GitUnavailable: { terminal: true },
  /** The host or address is not allowed. */
  EgressRefused: { terminal: true },
  /** This source has no list of versions. */
  NoListing: { terminal: true },
  /** The repository, the version or the platform is not there. It may appear. */
  NotFound: { terminal: false },
  /** The upstream refuses the credential. */
  AccessDenied: { terminal: false },
  RateLimited: { terminal: false },
  /** The upstream is away, slow, or answers nonsense. */
  FetchFailed: { terminal: false },
  ArchiveTooLarge: { terminal: true },
  WaitingForSpool: { terminal: false },
  Unsigned: { terminal: true },
  SignatureInvalid: { terminal: true },
  /** A key that is not among those that are trusted. */
  SigningKeyChanged: { terminal: true },
  ChecksumMismatch: { terminal: true },
} as const

export type SourceReason = keyof typeof reasons

/** Why a source did not give what was asked for. The message has at most 256 bytes, all printable, and says what to do. */
export class SourceError extends Error {
  override readonly name = 'SourceError'
  readonly reason: SourceReason
  /** When to try again at the earliest, in milliseconds from now. */
  readonly retryAfterMs: number | undefined

  constructor(
    reason: SourceReason,
    message: string,
    options: { readonly cause?: unknown; readonly retryAfterMs?: number } = {},
  ) {
    super(printable(message), { cause: options.cause })
    this.reason = reason
    this.retryAfterMs = options.retryAfterMs
  }

  /** Whether nothing changes until a person changes a resource, a Secret, an option or the upstream. */
  get terminal(): boolean {
    return reasons[this.reason].terminal
  }
}
