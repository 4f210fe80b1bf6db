import { ConstraintError } from '../../api/constraint/constraint.ts'
import { ArchiveError } from '../../archives/archive/archive.ts'
import { messageOf, type Reason, RegistryError } from '../../base/errors/errors.ts'
import { isTimeout } from '../../base/http/http.ts'
import type { StoredObject } from '../../records/store/store.ts'
import { causeOf, explained } from '../egress/egress.ts'
import type { Reconciled } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import type { Context } from './context.ts'
import { keyOf, latestOf } from './objects.ts'
import { type AnyStatus, isPatience, readyIn, type StatusChange, writeStatus } from './status.ts'
import { stalledWaitMs } from './timings.ts'

/** The syncStatus of a failure. Readers look for the word "failed" in it. */
export function failureText({ reason, message }: Pick<FillError, 'reason' | 'message'>): string {
  return isPatience(reason) ? 'Waiting for upstream' : `Sync failed: ${message}`
}

/** Translates an error of the work on an object; undefined for any other error. */
export function failureOf(thrown: unknown): FillError | undefined {
  if (thrown instanceof FillError) return thrown
  const message = messageOf(thrown)
  const options = { cause: thrown }
  if (thrown instanceof ArchiveError) return new FillError(thrown.reason, message, options)
  if (thrown instanceof ConstraintError) return new FillError('InvalidConstraint', message, options)
  if (thrown instanceof RegistryError) {
    return new FillError('StorageFailed', explained(thrown), options)
  }
  if (isTimeout(thrown)) {
    return new FillError('UpstreamTimeout', 'upstream took too long: check its host', options)
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
  failure: FillError,
  change: (status: S | undefined) => StatusChange<S>,
): Promise<Reconciled> {
  const { objects, metrics, log, timings } = context
  const { reason, message } = failure
  const current = latestOf(context, object)
  const { kind, metadata } = current
  await writeStatus<S>(context, current, change)
  metrics.ended(kind, reason)
  const before = readyIn((current.status as AnyStatus | undefined)?.conditions)
  // A rule refuses the same release whenever somebody looks.
  const isKnown = reason === 'RuleRefused' && before?.message === message
  if (!isKnown) {
    objects.event({
      object: current,
      type: 'Warning',
      reason: eventReasons.has(reason) ? reason : 'SyncFailed',
      note: `${reason}: ${message}`,
    })
  }
  // The queue logs a failure that it tries again.
  if (!failure.terminal) throw failure
  const cause = causeOf(failure)
  log.info(
    { kind, key: keyOf(metadata), reason, error: message, cause },
    'work on an object failed, Depot waits for a change of it',
  )
  return { afterMs: stalledWaitMs(timings, [reason], metadata.uid) }
}
