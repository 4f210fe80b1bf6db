import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, refOf } from '../context.ts'

export function finalizerOf(apiGroup: string): string {
  return `${apiGroup}/finalizer`
}

/** Makes a deleted object wait until its archive is removed. @returns the object with the finalizer */
export async function addFinalizer(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  object: StoredObject,
): Promise<StoredObject> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (finalizers.includes(own) || !objects.waitsForFinalizers(object)) return object
  const patch = { metadata: { finalizers: [...finalizers, own] } }
  return objects.patch(refOf(object), patch, { resourceVersion })
}

/** Lets a deleted object disappear. */
export async function dropFinalizer(
  { objects, apiGroup }: Pick<Context, 'objects' | 'apiGroup'>,
  object: StoredObject,
): Promise<void> {
  const { finalizers, resourceVersion } = object.metadata
  const own = finalizerOf(apiGroup)
  if (!finalizers.includes(own)) return
  const patch = { metadata: { finalizers: finalizers.filter((name) => name !== own) } }
  await objects.patch(refOf(object), patch, { resourceVersion })
}
