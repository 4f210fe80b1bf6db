import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../resource.ts'
import { type Placed, placeOf } from './plan.ts'

type VersionStatus = NonNullable<Version['status']>

/**
 * Every object in storage that a Version has put there or still needs. What is stored has no folder in its name: one that
 * has was written by another hand, and would reach into the place of a module whose folder is below this one's.
 */
export function filesOf(object: StoredObject): string[] {
  const { artifact, release, replaced } = (object.status ?? {}) as VersionStatus
  const files = [
    artifact?.fileName,
    release?.shasums,
    release?.signature,
    release?.keys,
    ...(replaced ?? []).map(({ fileName }) => fileName),
  ]
  return files.filter((file) => file !== undefined).filter((file) => !file.includes('/'))
}

/** Archives that were put into storage by hand are left there: only what was stored from a source is ours. */
function isOurs({ status }: StoredObject): boolean {
  return (status as VersionStatus | undefined)?.artifact?.sourceKey !== undefined
}

/** Whether the archive of a Version is to stay when the Version goes. */
export function leavesArchive({ apiGroup }: Pick<Context, 'apiGroup'>, object: StoredObject) {
  return !isOurs(object) || object.metadata.annotations[`${apiGroup}/orphan-archive`] === 'true'
}

/** Other Versions that name the same file. */
interface Others {
  /**
   * Whether one of them needs the object: those of other platforms share documents. One whose place is not known, because
   * its spec has a mistake, may need it anywhere.
   */
  readonly isShared: boolean
  /** Where the others have theirs, which may be the same object by a link in a mounted directory. */
  readonly elsewhere: readonly Placed['place'][]
}

/** One walk over every Version; what it found holds until something is waited for. */
export function othersNaming(
  context: Context,
  placed: Pick<Placed, 'place' | 'placeId'>,
  fileName: string,
  own?: StoredObject,
): Others {
  const elsewhere: Placed['place'][] = []
  let isShared = false
  for (const other of namedBy(context, fileName)) {
    const found = placedOrNothing(context, other)
    if (found === undefined || found.placeId === placed.placeId) {
      isShared ||= other.metadata.uid !== own?.metadata.uid && keepsArchive(context, other)
    } else if (isMounted(placed.place) && isMounted(found.place)) elsewhere.push(found.place)
  }
  return { isShared, elsewhere }
}

/** Whether the archive of a Version stays, for itself or because it goes without it. */
function keepsArchive(context: Context, object: StoredObject): boolean {
  return object.metadata.deletionTimestamp === undefined || leavesArchive(context, object)
}

/** Whether a place may be reached by a link. */
const isMounted = ({ backend }: Placed['place']): boolean => backend === 'filesystem'

/** Whether an object is, by a link in the mounted directory, the one of that name in another place. */
export async function isLinked(
  place: Placed['place'],
  elsewhere: readonly Placed['place'][],
  fileName: string,
): Promise<boolean> {
  const real = ({ driver, object }: Placed['place']) =>
    driver.stat(object(fileName)).then(
      (info) => info.object,
      () => undefined,
    )
  if (elsewhere.length === 0) return false
  const own = await real(place)
  if (own === undefined) return false
  for (const other of elsewhere) if ((await real(other)) === own) return true
  return false
}

/**
 * Whether every Version that may need an object is known. Where some namespaces are not watched, that is so if the operator
 * granted its place to the others alone.
 */
export function isAllKnown(
  { objects }: Pick<Context, 'objects'>,
  { place }: Pick<Placed, 'place'>,
  fileName: string,
): boolean {
  const { namespaces } = objects
  return namespaces === undefined || place.isReservedFor(namespaces, fileName)
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

function namedBy({ objects }: Context, fileName: string): StoredObject[] {
  return objects.list('Version').filter((version) => neededFiles(version).includes(fileName))
}
