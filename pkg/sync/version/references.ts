import type { Version } from '../../apis/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../objects/objects.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../resource.ts'
import { type Placed, placeOf } from './plan.ts'

type VersionStatus = NonNullable<Version['status']>

/** Every object in storage that a Version has put there or still needs. */
export function filesOf(object: StoredObject): string[] {
  const { artifact, release, replaced } = (object.status ?? {}) as VersionStatus
  const files = [
    artifact?.fileName,
    release?.shasums,
    release?.signature,
    release?.keys,
    ...(replaced ?? []).map(({ fileName }) => fileName),
  ]
  return files.filter((file) => file !== undefined)
}

/** Whether another Version needs an object in storage, too: those of other platforms share documents. */
export function isShared(
  context: Context,
  own: StoredObject,
  placeId: string,
  fileName: string,
): boolean {
  return context.objects.list('Version').some((other) => {
    if (other.metadata.uid === own.metadata.uid) return false
    if (other.metadata.deletionTimestamp !== undefined) return false
    return (
      neededFiles(other).includes(fileName) && placedOrNothing(context, other)?.placeId === placeId
    )
  })
}

/** Every object in storage that is not to be removed while a Version is there, one that its spec alone names included. */
export function neededFiles(object: StoredObject): string[] {
  const { fileName, upload } = object.spec as Version['spec']
  const named = [fileName, upload?.fileName].filter((file) => file !== undefined)
  return [...filesOf(object), ...named]
}

/** Nothing where the spec of a Version names no place. */
export function placedOrNothing(context: Context, object: StoredObject): Placed | undefined {
  try {
    return placeOf(context, resourceOf('Version', object))
  } catch {
    return undefined
  }
}
