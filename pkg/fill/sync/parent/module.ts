/** Brings a Module to its spec: a Version for each of its versions. */

import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../objects.ts'
import { isRetained } from './children.ts'
import { type ParentPlan, reconcileParent } from './reconcile-parent.ts'
import {
  identityOfStored,
  listedVersions,
  ownedBy,
  publishedFor,
  retention,
  versionsIn,
} from './versions.ts'

export function reconcileModule(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  return reconcileParent(context, ref, async (object) => planOf(context, object), signal)
}

function planOf(context: Context, object: StoredObject): ParentPlan {
  const { spec, metadata } = resourceOf('Module', object)
  const published = publishedFor(context, object)
  const { listed, skipped } = listedVersions([...spec.versions, ...versionsIn(published)])
  const kept = [...ownedBy(context, object).filter(isRetained), ...published]
  const retained = new Set(kept.map(identityOfStored))
  const { moduleConfig } = object.spec as { moduleConfig: Record<string, unknown> }
  const { name = metadata.name, versionHistoryLimit } = spec.moduleConfig
  return {
    config: { type: 'Module', config: { ...moduleConfig, name } },
    desired: retention(listed, versionHistoryLimit, (version) => retained.has(version)),
    skipped,
  }
}
