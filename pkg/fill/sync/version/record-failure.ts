import type { Reason } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { type Context, keyOf, refOf } from '../context.ts'
import type { Failure } from '../failure.ts'
import { handled, resetForceSync } from '../requests.ts'
import { writeStatus } from '../status.ts'
import { stalledWaitMs } from '../timings.ts'
import type { Attempt } from './attempt.ts'
import { failedStatus, type VersionStatus } from './status.ts'

/**
 * Tells of a failure in the status and by an event.
 *
 * @returns when to look again, where only a change can help
 * @throws the failure, where trying again may help
 */
export async function recordFailure(
  context: Context,
  object: StoredObject,
  failure: Failure,
  { sourceKey, revision, request, isOutdated }: Attempt,
): Promise<Reconciled> {
  const { kind, namespace, name } = refOf(object)
  const current = context.objects.get(kind, namespace, name) ?? object
  const { reason, message, terminal } = failure
  await writeStatus<VersionStatus>(context, current, (status) => {
    const { fields, conditions } = failedStatus(status, failure)
    if (!terminal) return { fields, conditions }
    const attempted =
      sourceKey === undefined || revision === undefined ? undefined : { sourceKey, revision }
    return { fields: { ...fields, attempted, ...handled(request, context.clock()) }, conditions }
  })
  context.metrics.ended('Version', reason)
  if (verifyReasons.has(reason)) context.metrics.verifyFailed(reason)
  context.objects.event({
    object: current,
    type: 'Warning',
    reason: events.get(reason) ?? 'SyncFailed',
    note: `${reason}: ${message}`,
  })
  if (!terminal) {
    if (isOutdated === true) context.outdated.add(keyOf(current.metadata))
    throw failure
  }
  await resetForceSync(context, current, request)
  return { afterMs: stalledWaitMs(context.timings, [reason], current.metadata.uid) }
}

const events: ReadonlyMap<Reason, Reason> = new Map([
  ['RateLimited', 'RateLimited'],
  ['SigningKeyChanged', 'SigningKeyChanged'],
])

const verifyReasons: ReadonlySet<string> = new Set([
  'Unsigned',
  'SignatureInvalid',
  'SigningKeyChanged',
  'ChecksumMismatch',
  'UnsafeArchive',
  'NotAnArchive',
])
