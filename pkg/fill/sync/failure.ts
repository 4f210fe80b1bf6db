import { ArchiveError } from '../../archives/archive/archive.ts'
import { messageOf, type Reason, ReasonError, RegistryError } from '../../base/errors/errors.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { ConstraintError } from '../constraint/constraint.ts'
import { causeOf, printable } from '../egress/egress.ts'
import type { Reconciled } from '../queue/queue.ts'
import { SourceError } from '../sources/sources.ts'
import { type Context, keyOf, latestOf } from './context.ts'
import { type AnyStatus, type StatusChange, writeStatus } from './status.ts'
import { stalledWaitMs } from './timings.ts'

/** The reason why an object does not reach its desired state. */
export class SyncFailure extends ReasonError {
  override readonly name = 'SyncFailure'
  /** Only a change by a person helps; trying again soon does not. */
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

/** Whether a reason only means waiting: nothing is wrong, and nobody has to do anything. */
export function isPatience(reason: string): boolean {
  return reason === 'RateLimited' || reason === 'WaitingForSpool'
}

/** The syncStatus of a failure. Readers look for the word "failed" in it. */
export function failureText({ reason, message }: Pick<SyncFailure, 'reason' | 'message'>): string {
  return isPatience(reason) ? 'Waiting for upstream' : `Sync failed: ${message}`
}

/** A terminal failure. */
export function mistake(reason: Reason, message: string, cause?: unknown): SyncFailure {
  return new SyncFailure(reason, message, { terminal: true, cause })
}

/** Translates an error of the work on an object; undefined for any other error. */
export function failureOf(thrown: unknown): SyncFailure | undefined {
  if (thrown instanceof SyncFailure) return thrown
  if (thrown instanceof SourceError) {
    const { reason, message, terminal, retryAfterMs } = thrown
    return new SyncFailure(reason, message, { terminal, retryAfterMs, cause: thrown })
  }
  if (thrown instanceof ArchiveError) return mistake(thrown.reason, thrown.message, thrown)
  if (thrown instanceof ConstraintError) return mistake('InvalidConstraint', thrown.message)
  if (thrown instanceof RegistryError) {
    return new SyncFailure('StorageFailed', messageOf(thrown), { cause: thrown })
  }
  return undefined
}

/** Reasons that have events of their own. */
const eventReasons: ReadonlySet<Reason> = new Set<Reason>(['RateLimited', 'SigningKeyChanged'])

/**
 * Reports a failure in the status, by an event and in metrics.
 *
 * @returns when to look again, if only a change helps
 * @throws the failure, if trying again may help
 */
export async function reportFailure<S extends AnyStatus>(
  context: Context,
  object: StoredObject,
  failure: SyncFailure,
  change: (status: S | undefined) => StatusChange<S>,
): Promise<Reconciled> {
  const { objects, metrics, log, timings } = context
  const { reason, message } = failure
  const current = latestOf(context, object)
  const { kind, metadata } = current
  await writeStatus<S>(context, current, change)
  metrics.ended(kind, reason)
  objects.event({
    object: current,
    type: 'Warning',
    reason: eventReasons.has(reason) ? reason : 'SyncFailed',
    note: `${reason}: ${message}`,
  })
  // The queue logs a failure that it tries again.
  if (!failure.terminal) throw failure
  const cause = causeOf(failure)
  log.info(
    { kind, key: keyOf(metadata), reason, error: message, cause },
    'work on an object failed, it waits for a change',
  )
  return { afterMs: stalledWaitMs(timings, [reason], metadata.uid) }
}
