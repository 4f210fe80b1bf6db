/**
 * Says what a sync would do: fetch, create, change, hold and remove. Reconcilers work on a copy of the records, so they decide
 * as they always do, and nothing is written.
 */

import {
  ApiError,
  type Objects,
  plannedObjects,
  type StoredObject,
  type StoredRef,
} from '../../records/store/store.ts'
import {
  type PolicyDecision,
  type SyncOptions,
  startSync,
  type VersionOutlook,
} from '../sync/sync.ts'
import { changesBetween, exceptedChange, idOf, type PlannedChange, snapshotOf } from './changes.ts'

export type { PlannedChange } from './changes.ts'
export { asJson, asMarkdown, asText, hasDifferences, hasFailures } from './report.ts'

export interface PlanOptions extends Omit<SyncOptions, 'dryRun' | 'tries' | 'pollAtStart'> {
  /** Objects that are not among the records yet, or other than there. */
  readonly proposed?: readonly StoredObject[]
  /** Objects that a sync removes because their owner is absent. */
  readonly orphans?: readonly StoredObject[] | undefined
  /** The objects to plan, with everything that is made for them. Default: everything. */
  readonly asked?: readonly StoredRef[] | undefined
}

/** Asks upstreams, and returns what would be different after a sync. */
export async function plan(options: PlanOptions): Promise<PlannedChange[]> {
  const { objects: base, proposed = [], orphans = [], apiGroup, clock = Date.now } = options
  await base.ready
  const objects = plannedObjects(base, { apiGroup, clock })
  const before = snapshotOf(objects)
  const refused: PlannedChange[] = []
  for (const object of proposed) {
    await propose(objects, object).catch((error: unknown) => {
      if (!(error instanceof ApiError)) throw error
      const { kind, metadata } = object
      const { namespace, name } = metadata
      refused.push({ action: 'fail', kind, namespace, name, message: error.message })
    })
  }
  for (const { kind, metadata } of orphans) await objects.delete({ kind, ...metadata })
  const isAsked = scopeOf(options.asked, objects, apiGroup)
  const outlooks = new Map<string, VersionOutlook>()
  const decisions = new Map<string, PolicyDecision>()
  const sync = await startSync({
    ...options,
    objects,
    tries: 3,
    // Work that failed decides again.
    audit: (decision) => decisions.set(JSON.stringify(decision), decision),
    dryRun: {
      isAsked,
      tell: ({ kind, metadata }, outlook) => outlooks.set(idOf({ kind, ...metadata }), outlook),
    },
  })
  await sync.idle()
  const failing = sync.failing()
  await sync.stop()
  const excepted = [...decisions.values()].filter(({ object }) => isAsked(object))
  const compared = { before, objects, isAsked, outlooks, failing, apiGroup }
  return [...refused, ...excepted.map(exceptedChange), ...changesBetween(compared)]
}

/** Writes an object as a person does, who owns its whole spec. */
async function propose(objects: Objects, { kind, metadata, spec }: StoredObject): Promise<void> {
  const { namespace, name, labels, annotations, ownerReferences } = metadata
  if (objects.get(kind, namespace, name) !== undefined) {
    const replacement = { op: 'replace', path: '/spec', value: spec } as const
    await objects.patch({ kind, namespace, name }, [replacement])
  }
  const owners = ownerReferences.length > 0 && { ownerReferences }
  await objects.apply({ kind, metadata: { namespace, name, labels, annotations, ...owners }, spec })
}

/** Tells which objects are asked for, or made for one that is. */
function scopeOf(
  asked: readonly StoredRef[] | undefined,
  objects: Objects,
  apiGroup: string,
): (ref: StoredRef) => boolean {
  if (asked === undefined) return () => true
  const roots = new Set(asked.map(idOf))
  const isAsked = (ref: StoredRef): boolean => {
    if (roots.has(idOf(ref))) return true
    const { namespace } = ref
    const object = objects.get(ref.kind, namespace, ref.name)
    const depot = object?.metadata.labels[`${apiGroup}/depot`]
    if (depot !== undefined && roots.has(idOf({ kind: 'Depot', namespace, name: depot }))) {
      return true
    }
    return (object?.metadata.ownerReferences ?? []).some(
      ({ kind, name }) =>
        (kind === 'Module' || kind === 'Provider') && isAsked({ kind, namespace, name }),
    )
  }
  return isAsked
}
