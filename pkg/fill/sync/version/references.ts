import { sha256Hex, type Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../objects.ts'
import { msOf } from '../timings.ts'
import { placeOf, recordedPlace, storedPlaceOf } from './plan.ts'
import { docsIn, filesIn, namesOf, type StoragePlace, versionStatus } from './work.ts'

type Place = StoragePlace['place']

/** A file in storage. */
export interface StoredFile {
  readonly fileName: string
  readonly at: StoragePlace
}

/** The same with their places. @throws FillError InvalidSpec if a place is not known */
export function filesOf(context: Context, object: StoredObject): StoredFile[] {
  const { replaced = [], ...status } = versionStatus(object)
  const own = storedPlaceOf(context, resourceOf('Version', object))
  const previous = replaced.map((one) => {
    return { fileName: one.fileName, at: recordedPlace(context, one) ?? own }
  })
  const files = [...filesIn(status).map((fileName) => ({ fileName, at: own })), ...previous]
  return files.filter(({ fileName }) => !fileName.includes('/'))
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
  { fileName, at }: StoredFile,
  own?: StoredObject,
): Others {
  const elsewhere: Place[] = []
  let isShared = false
  for (const other of context.objects.list('Version')) {
    if (!neededNames(other).includes(fileName)) continue
    const isOwn = other.metadata.uid === own?.metadata.uid
    const places = neededFiles(context, other)
      ?.filter((file) => file.fileName === fileName)
      .map((file) => file.at)
    if (places === undefined || places.some(({ placeId }) => placeId === at.placeId)) {
      isShared ||= keepsArchive(context, other, isOwn)
    }
    for (const { place, placeId } of places ?? []) {
      const isOther = placeId !== at.placeId && isMounted(place) && isMounted(at.place)
      if (isOther) elsewhere.push(place)
    }
  }
  for (const { object } of context.removals.all.filter((left) => !isDue(left, context.clock()))) {
    const needs = (file: StoredFile) => file.fileName === fileName && file.at.placeId === at.placeId
    isShared ||= namesOf(object).includes(fileName) && filesOf(context, object).some(needs)
  }
  return { isShared, elsewhere }
}

/** Whether the archive of a Version stays: the Version is not deleted, may return with its owner, or leaves its archive. */
function keepsArchive(context: Context, object: StoredObject, isOwn: boolean): boolean {
  const { deletionTimestamp, ownerAbsent } = object.metadata
  if (deletionTimestamp === undefined) return true
  return !isOwn && (ownerAbsent === true || leavesArchive(context, object))
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
  { fileName, at }: StoredFile,
): boolean {
  const { namespaces } = objects
  return namespaces === undefined || at.place.isReservedFor(namespaces, fileName)
}

/** Names of the objects in storage that stay while a Version exists, including those that only its spec names. */
export function neededNames(object: StoredObject): string[] {
  return [...namesOf(object), ...namesInSpec(object)]
}

function namesInSpec({ spec }: StoredObject): string[] {
  const { fileName, upload } = spec as Version['spec']
  const archive = upload?.fileName ?? fileName
  const sha256 = sha256Hex(upload?.sha256 ?? '')
  return [
    fileName,
    upload?.fileName,
    docsIn({ fileName: archive, sha256, docs: upload?.docs }),
  ].filter((file) => file !== undefined)
}

/**
 * The objects in storage that stay while a Version exists. Those that wait for their removal are left out once it is due.
 *
 * @returns undefined if the spec of the Version has a mistake: then it may need them in every place
 */
export function neededFiles(context: Context, object: StoredObject): StoredFile[] | undefined {
  const at = placedOrNothing(context, object)
  if (at === undefined) return undefined
  const status = versionStatus(object)
  const replaced = (status.replaced ?? []).filter((one) => !isDue(one, context.clock()))
  return attempt(() => {
    const files = filesOf(context, { ...object, status: { ...status, replaced } })
    return [...files, ...namesInSpec(object).map((fileName) => ({ fileName, at }))]
  })
}

function isDue({ removeAfter }: { readonly removeAfter: string | undefined }, nowMs: number) {
  return removeAfter !== undefined && (msOf(removeAfter) ?? 0) <= nowMs
}

/** The place that the spec of a Version names; undefined if it names none. */
export function placedOrNothing(context: Context, object: StoredObject): StoragePlace | undefined {
  return attempt(() => placeOf(context, resourceOf('Version', object)))
}
