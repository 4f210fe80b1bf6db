import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, refOf } from '../context.ts'

export function depotLabel(apiGroup: string): string {
  return `${apiGroup}/depot`
}

/** Holds a digest of the versions that a Depot applied, so that it notices later changes. */
export function appliedAnnotation(apiGroup: string): string {
  return `${apiGroup}/applied`
}

/** Removes the mark of a Depot, so that the object belongs to none. */
export async function orphan(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  object: StoredObject,
): Promise<void> {
  await objects.patch(refOf(object), {
    metadata: {
      labels: { [depotLabel(apiGroup)]: null },
      annotations: { [appliedAnnotation(apiGroup)]: null },
    },
  })
}

/** Removes the mark of a Depot that no longer exists. */
export async function orphanOfGone(context: Context, object: StoredObject): Promise<void> {
  const depot = object.metadata.labels[depotLabel(context.apiGroup)]
  if (depot === undefined) return
  if (context.objects.get('Depot', object.metadata.namespace, depot) === undefined) {
    await orphan(context, object)
  }
}
