import type { ProviderConfig } from '../../../api/v1alpha1/v1alpha1.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { ModuleOrigin } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { absenceMs, jittered } from '../timings.ts'

export function depotLabel(apiGroup: string): string {
  return `${apiGroup}/depot`
}

/** Holds a digest of the versions that a Depot applied, so that it notices later changes. */
export function appliedAnnotation(apiGroup: string): string {
  return `${apiGroup}/applied`
}

/** Removes the mark of a Depot, so that the object belongs to none. What its policy withdrew stays withdrawn. */
export async function orphan(context: Context, object: StoredObject): Promise<void> {
  const { objects, apiGroup } = context
  await objects.patch(refOf(object), {
    metadata: {
      labels: { [depotLabel(apiGroup)]: null },
      annotations: { [appliedAnnotation(apiGroup)]: null },
    },
  })
}

/** Says what becomes of a resource when its Depot is gone, for a Depot whose file a person removes leaves nothing behind. */
export function policyAnnotation(apiGroup: string): string {
  return `${apiGroup}/deletion-policy`
}

/**
 * Follows the policy of a Depot that no longer exists: deletes the resource, or removes the mark.
 *
 * @returns when to look again, if this cannot be decided now; undefined if the work on the resource may go on
 */
export async function leaveGoneDepot(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const { apiGroup, objects } = context
  const { labels, annotations, namespace, uid } = object.metadata
  const depot = labels[depotLabel(apiGroup)]
  if (depot === undefined || objects.get('Depot', namespace, depot) !== undefined) return undefined
  // It may be in a file that cannot be read.
  if (objects.unreadable() !== undefined) return undefined
  if (annotations[policyAnnotation(apiGroup)] !== 'Delete') {
    await orphan(context, object)
    return undefined
  }
  if (!(await upstreamAnswers(context, object, signal)))
    return { afterMs: jittered(absenceMs, uid) }
  await objects.delete(refOf(object), { uid })
  return {}
}

/** Whether upstream can be asked for versions of a resource, whatever it answers. */
async function upstreamAnswers(
  { sources, timings }: Context,
  { kind, spec, metadata: { namespace } }: StoredObject,
  signal: AbortSignal,
): Promise<boolean> {
  const { moduleConfig, providerConfig } = spec as {
    moduleConfig: ModuleOrigin
    providerConfig: ProviderConfig
  }
  const deadline = AbortSignal.timeout(timings.listMs)
  const options = { signal: AbortSignal.any([signal, deadline]), urgent: false, maxAgeMs: 0 }
  try {
    const upstream =
      kind === 'Module'
        ? sources.module(moduleConfig, namespace)
        : sources.provider(providerConfig, namespace)
    await upstream.list(options)
    return true
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return failure.reason === 'UpstreamNotFound'
  }
}
