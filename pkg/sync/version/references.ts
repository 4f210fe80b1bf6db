import type { Version } from '../../apis/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../objects/objects.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../resource.ts'
import { placeOf } from './plan.ts'

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
    const { fileName: specFile, upload } = other.spec as Version['spec']
    const names = [...filesOf(other), specFile, upload?.fileName]
    return names.includes(fileName) && placeIdOf(context, other) === placeId
  })
}

function placeIdOf(context: Context, other: StoredObject): string | undefined {
  try {
    return placeOf(context, resourceOf('Version', other)).placeId
  } catch {
    return undefined
  }
}
