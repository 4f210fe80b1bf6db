import type { Version } from '../../apis/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../errors/errors.ts'
import type { StoredObject } from '../../objects/objects.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { conditionFalse } from '../conditions.ts'
import { type Context, keyOf, msOf } from '../context.ts'
import { Failure } from '../failure.ts'
import { resourceOf } from '../resource.ts'
import { writeStatus } from '../status.ts'
import { dropFinalizer, finalizerOf } from './finalizer.ts'
import { placeOf, requireGrant } from './plan.ts'
import { filesOf, isShared } from './references.ts'

type VersionStatus = NonNullable<Version['status']>

/** Removes the archive of a deleted Version once servers have seen the deletion, and lets the Version go. */
export async function removeVersion(
  context: Context,
  object: StoredObject,
): Promise<Reconciled | undefined> {
  const { finalizers, deletionTimestamp, annotations } = object.metadata
  if (!finalizers.includes(finalizerOf(context.apiGroup))) return undefined
  const left = annotations[`${context.apiGroup}/orphan-archive`] === 'true'
  const files = isOurs(object) && !left ? filesOf(object) : []
  if (files.length > 0) {
    const dueMs = (msOf(deletionTimestamp) ?? 0) + context.timings.archiveDeleteDelayMs
    if (context.clock() < dueMs) return { afterMs: dueMs - context.clock() }
    try {
      await removeFiles(context, object, files)
    } catch (error) {
      throw await notRemoved(context, object, error)
    }
    context.objects.event({
      object,
      type: 'Normal',
      reason: 'ArchiveRemoved',
      note: `removed ${files[0]} from storage`,
    })
  }
  await dropFinalizer(context, object)
  context.metrics.ended('Version', 'Synced')
  return undefined
}

/** Archives that were put into storage by hand are left there: only what was stored from a source is ours. */
function isOurs(object: StoredObject): boolean {
  return (object.status as VersionStatus | undefined)?.artifact?.sourceKey !== undefined
}

/** Removes what no other Version needs. @throws RegistryError, Failure */
export async function removeFiles(
  context: Context,
  object: StoredObject,
  files: readonly string[],
): Promise<void> {
  const placed = placeOf(context, resourceOf('Version', object))
  requireGrant(placed, object.metadata.namespace)
  const { place, placeId } = placed
  for (const fileName of files) {
    if (isShared(context, object, placeId, fileName)) continue
    await place.driver.remove(place.object(fileName))
  }
}

async function notRemoved(
  context: Context,
  object: StoredObject,
  error: unknown,
): Promise<Failure> {
  const message = `${messageOf(error)}; the annotation ${context.apiGroup}/orphan-archive: "true" lets the Version go without it`
  const failure = new Failure('ArchiveNotRemoved', message, { cause: error })
  await writeStatus<VersionStatus>(context, object, () => ({
    fields: { synced: false, syncStatus: `Sync failed: ${failure.message}` },
    conditions: { Ready: conditionFalse(failure.reason, failure.message) },
  }))
  context.objects.event({
    object,
    type: 'Warning',
    reason: 'SyncFailed',
    note: `${keyOf(object.metadata)}: ${failure.message}`,
  })
  return failure
}
