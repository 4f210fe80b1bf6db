import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { latestOf } from '../objects.ts'
import { soonest } from '../timings.ts'
import { compareStored } from './comparison.ts'
import { document } from './document.ts'
import { keepSource, type SourceNeed } from './provider-source.ts'
import { verificationDueMs } from './verify.ts'
import { type StoragePlace, versionStatus } from './work.ts'

/**
 * Stores what belongs to a stored archive, such as its documentation, and compares it with the previous version.
 *
 * @returns when to look at all of that again, or at the archive
 */
export async function keepBelongings(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  parent: StoredObject | undefined,
  need: SourceNeed,
): Promise<Reconciled> {
  const undocumentedMs = await document(context, latestOf(context, object), at, need)
  const uncomparedMs = await compareStored(context, latestOf(context, object), parent, need.signal)
  const source = await keepSource(context, latestOf(context, object), at, need)
  if (source.waitsFor !== undefined) return source
  const current = latestOf(context, object)
  const { artifact } = versionStatus(current)
  const due = artifact && verificationDueMs(context, current, artifact)
  const checkedMs = due && Math.min(due.verify, due.rehash) - context.clock()
  return soonest(undocumentedMs, source.afterMs, uncomparedMs, checkedMs)
}
