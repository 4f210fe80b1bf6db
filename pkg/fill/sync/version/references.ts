import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../resource.ts'
import { type PlacedVersion, placeOf } from './plan.ts'
import { versionStatus } from './work.ts'

type Place = PlacedVersion['place']

/**
 * Lists the objects in storage that a Version has put there or still needs. Depot stores no name with a folder in it: such a
 * name was written by somebody else, and would reach into the place of a module whose folder is below this one.
 */
export function filesOf(object: StoredObject): string[] {
  const { artifact, release, replaced = [] } = versionStatus(object)
  const files = [
    artifact?.fileName,
    release?.shasums,
    release?.signature,
    release?.keys,
    ...replaced.map(({ fileName }) => fileName),
  ]
  return files.filter((file) => file !== undefined && !file.includes('/')) as string[]
}

/** Whether the archive of a Version stays when the Version is deleted: an annotation says so, or a person stored it. */
export function leavesArchive(
  { apiGroup }: Pick<Context, 'apiGroup'>,
  object: StoredObject,
): boolean {
  const isStoredByHand = versionStatus(object).artifact?.sourceKey === undefined
  return isStoredByHand || object.metadata.annotations[`${apiGroup}/orphan-archive`] === 'true'
}

/** Other Versions that name the same file. */
interface Others {
  /**
   * Whether one of them needs the object: other platforms share documents. A Version whose spec has a mistake may need it in
   * any place.
   */
  readonly isShared: boolean
  /** Places of the others, which may hold the same object through a link in a mounted directory. */
  readonly elsewhere: readonly Place[]
}

/** Finds other Versions that name a file. The result is valid until the next await. */
export function othersNaming(
  context: Context,
  placed: Pick<PlacedVersion, 'place' | 'placeId'>,
  fileName: string,
  own?: StoredObject,
): Others {
  const elsewhere: Place[] = []
  let isShared = false
  for (const other of context.objects.list('Version')) {
    if (!neededFiles(other).includes(fileName)) continue
    const found = placedOrNothing(context, other)
    if (found === undefined || found.placeId === placed.placeId) {
      isShared ||= other.metadata.uid !== own?.metadata.uid && keepsArchive(context, other)
    } else if (isMounted(placed.place) && isMounted(found.place)) elsewhere.push(found.place)
  }
  return { isShared, elsewhere }
}

/** Whether the archive of a Version stays: the Version is not deleted, may return with its owner, or leaves its archive. */
function keepsArchive(context: Context, object: StoredObject): boolean {
  const { deletionTimestamp, ownerAbsent } = object.metadata
  return deletionTimestamp === undefined || ownerAbsent === true || leavesArchive(context, object)
}

/** Whether links may lead to a place. */
const isMounted = ({ backend }: Place): boolean => backend === 'filesystem'

/** Whether an object is, through a link in the mounted directory, the object of that name in another place. */
export async function isLinked(
  place: Place,
  elsewhere: readonly Place[],
  fileName: string,
): Promise<boolean> {
  const real = ({ driver, object }: Place) =>
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
 * Whether every Version that may need an object is known. If some namespaces are not watched, its place has to be granted to
 * the watched ones alone.
 */
export function isAllKnown(
  { objects }: Pick<Context, 'objects'>,
  { place }: Pick<PlacedVersion, 'place'>,
  fileName: string,
): boolean {
  const { namespaces } = objects
  return namespaces === undefined || place.isReservedFor(namespaces, fileName)
}

/** Lists the objects in storage that stay while a Version exists, including one that only its spec names. */
export function neededFiles(object: StoredObject): string[] {
  const { fileName, upload } = object.spec as Version['spec']
  const named = [fileName, upload?.fileName].filter((file) => file !== undefined)
  return [...filesOf(object), ...named]
}

/** The place of a Version; undefined if its spec names none. */
export function placedOrNothing(context: Context, object: StoredObject): PlacedVersion | undefined {
  try {
    return placeOf(context, resourceOf('Version', object))
  } catch {
    return undefined
  }
}
