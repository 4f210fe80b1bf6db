/** Brings a Module to where its spec says: a Version for each of its versions. */

import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Context } from '../context.ts'
import { isRetained, ownedBy } from '../parent/children.ts'
import { identityOfStored, listedVersions, retention } from '../parent/desired.ts'
import { reconcileParent, type Wish } from '../parent/reconcile-parent.ts'
import { resourceOf } from '../resource.ts'

export function reconcileModule(context: Context, ref: StoredRef): Promise<Reconciled | undefined> {
  return reconcileParent(context, ref, async (object) => wishOf(context, object))
}

function wishOf(context: Context, object: StoredObject): Wish {
  const { spec, metadata } = resourceOf('Module', object)
  const { listed, skipped } = listedVersions(spec.versions)
  const retained = new Set(ownedBy(context, object).filter(isRetained).map(identityOfStored))
  const { moduleConfig } = object.spec as { moduleConfig: Record<string, unknown> }
  const limit = spec.moduleConfig.versionHistoryLimit
  return {
    config: {
      type: 'Module',
      config: { ...moduleConfig, name: spec.moduleConfig.name ?? metadata.name },
    },
    desired: retention(listed, limit, (version) => retained.has(version)),
    skipped,
  }
}
