/** Brings one Version to where its spec says: its archive fetched, checked, stored, and reported in its status. */

import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { conditionTrue } from '../conditions.ts'
import { type Context, keyOf } from '../context.ts'
import { failureOf } from '../failure.ts'
import { resourceOf } from '../resource.ts'
import { writeStatus } from '../status.ts'
import type { Attempt } from './attempt.ts'
import { recordFailure } from './record-failure.ts'
import { removeVersion } from './remove.ts'
import type { VersionStatus } from './status.ts'
import { syncVersion } from './sync-version.ts'
import { syncUpload } from './upload.ts'

export async function reconcileVersion(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  // It may have a slot already: the queue takes one for a Version that waited.
  try {
    const object = context.objects.get('Version', ref.namespace, ref.name)
    if (object !== undefined) return await reconcileObject(context, object, signal)
    context.outdated.delete(keyOf(ref))
    return undefined
  } finally {
    context.slots.free(keyOf(ref))
  }
}

async function reconcileObject(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  if (object.metadata.deletionTimestamp !== undefined) return removeVersion(context, object, signal)
  const attempt: Attempt = {}
  try {
    const version = resourceOf('Version', object)
    if (version.spec.suspend === true) return await suspend(context, object)
    const sync = version.spec.upload === undefined ? syncVersion : syncUpload
    return await sync(context, { object, version, attempt, signal })
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return await recordFailure(context, object, failure, attempt)
  }
}

async function suspend(context: Context, object: StoredObject): Promise<undefined> {
  await writeStatus<VersionStatus>(context, object, () => ({
    fields: { syncStatus: 'Suspended' },
    conditions: {
      Suspended: conditionTrue('Suspended', 'spec.suspend is set'),
      Reconciling: undefined,
    },
  }))
}
