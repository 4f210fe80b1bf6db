import { ArchiveError } from '../../archives/archive/archive.ts'
import { messageOf, type Reason, ReasonError, RegistryError } from '../../base/errors/errors.ts'
import { ConstraintError } from '../constraint/constraint.ts'
import { printable } from '../egress/egress.ts'
import { SourceError } from '../sources/sources.ts'

/** Why an object is not where it should be. */
export class Failure extends ReasonError {
  override readonly name = 'Failure'
  /** Nothing changes until a person changes something; asking again soon is of no use. */
  readonly terminal: boolean

  constructor(
    reason: Reason,
    message: string,
    options: {
      readonly terminal?: boolean
      readonly retryAfterMs?: number | undefined
      readonly cause?: unknown
    } = {},
  ) {
    super(reason, printable(message), options)
    this.terminal = options.terminal ?? false
  }
}

/** What only takes its time: nothing is wrong, and there is nothing to do. */
export function isPatience(reason: string): boolean {
  return reason === 'RateLimited' || reason === 'WaitingForSpool'
}

/** The text of a status that says it. Readers look for the word "failed" in it. */
export function failureText({ reason, message }: Pick<Failure, 'reason' | 'message'>): string {
  return isPatience(reason) ? 'Waiting for upstream' : `Sync failed: ${message}`
}

export function mistake(reason: Reason, message: string): Failure {
  return new Failure(reason, message, { terminal: true })
}

/** What went wrong, in the words of the status; undefined where it is not a failure of the object. */
export function failureOf(thrown: unknown): Failure | undefined {
  if (thrown instanceof Failure) return thrown
  if (thrown instanceof SourceError) {
    const { reason, message, terminal, retryAfterMs } = thrown
    return new Failure(reason, message, { terminal, retryAfterMs, cause: thrown })
  }
  if (thrown instanceof ArchiveError) return mistake(thrown.reason, thrown.message)
  if (thrown instanceof ConstraintError) return mistake('InvalidConstraint', thrown.message)
  if (thrown instanceof RegistryError) {
    return new Failure('StorageFailed', messageOf(thrown), { cause: thrown })
  }
  return undefined
}
