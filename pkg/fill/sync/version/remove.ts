/** Removes archives, and finds out which Versions need a file in storage. */

import { sha256Hex, type Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt, messageOf } from '../../../base/errors/errors.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { explained } from '../../egress/egress.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { dropFinalizer, finalizerOf, keyOf, resourceOf } from '../objects.ts'
import { conditionFalse, writeStatus } from '../status.ts'
import { absenceMs, jittered, msOf, timeOf } from '../timings.ts'
import { placeOf, planOf, recordedPlace, requireGrant, storedPlaceOf, upstreamOf } from './plan.ts'
import { placeFields } from './status.ts'
import {
  docsIn,
  filesIn,
  isRefusing,
  leavesArchive,
  namesOf,
  type StoragePlace,
  type VersionStatus,
  versionStatus,
} from './work.ts'

/** When to try again if another Version is being stored as the same archive. */
export const heldMs = 1_000
/** Reasons why a Version cannot be fetched that only an upstream which answered gives. */
const answers: ReadonlySet<string> = new Set([
  'UpstreamNotFound',
  'Unsigned',
  'SignatureInvalid',
  'SigningKeyChanged',
])

/** Lets a deleted Version disappear. Its archive stays in storage for a while, or is removed at once without a grace. */
export async function removeVersion(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const { finalizers } = object.metadata
  if (!finalizers.includes(finalizerOf(context.apiGroup))) return undefined
  const files = leavesArchive(context, object) ? [] : namesOf(object)
  if (object.metadata.ownerAbsent === true) return confirmAbsence(context, object, files, signal)
  const { removalGraceMs } = context.timings
  if (files.length > 0) {
    try {
      if (removalGraceMs > 0) {
        await leave(context, object)
        await dropFinalizer(context, object)
        return undefined
      }
      const { removed, held } = await removeFiles(context, object, filesOf(context, object))
      if (held.length > 0) return { afterMs: heldMs }
      reportRemoved(context, object, removed)
    } catch (error) {
      throw await notRemoved(context, object, error)
    }
  }
  await dropFinalizer(context, object)
  context.metrics.ended('Version', 'Synced')
  return undefined
}

/** Writes down what a Version leaves in storage, so that it can disappear. @throws FillError StorageNotGranted */
export async function leave(context: Context, object: StoredObject): Promise<void> {
  if (leavesArchive(context, object) || namesOf(object).length === 0) return
  const files = filesOf(context, object)
  for (const { at } of files) requireGrant(at, object.metadata.namespace)
  const status = versionStatus(object)
  const own = files.find(({ fileName }) => fileName === status.artifact?.fileName)?.at
  // Older releases did not write the place.
  const artifact = status.artifact && { ...(own && placeFields(own)), ...status.artifact }
  const removeAfter = timeOf(context.clock() + context.timings.removalGraceMs)
  const acceptsUpstream = isDeletedToAccept(context, object)
  const left = { ...object, status: { ...status, artifact } }
  await context.removals.add(left, { removeAfter, acceptsUpstream })
}

/** Leaves the archive of a Version in storage for a while. @returns false if that failed */
export async function isLeft(context: Context, version: StoredObject): Promise<boolean> {
  try {
    await leave(context, version)
    return true
  } catch (err) {
    const key = keyOf(version.metadata)
    context.log.error(
      { key, err, error: messageOf(err) },
      'the archive of a missing Version could not be noted for removal',
    )
    return false
  }
}

/** Whether a person deleted a Version that refuses upstream's content, rather than its parent. */
export function isDeletedToAccept({ objects, removals }: Context, object: StoredObject): boolean {
  const { namespace, ownerReferences } = object.metadata
  const isOwned = ownerReferences.some(({ kind, name }) => {
    if (kind !== 'Module' && kind !== 'Provider') return false
    const owner = objects.get(kind, namespace, name)
    return owner !== undefined && owner.metadata.deletionTimestamp === undefined
  })
  return isRefusing(object) && isOwned && !removals.isUnwanted(object)
}

/** Removes what a Version has left in storage, once it is due. @throws RegistryError, FillError */
export async function removeLeft(context: Context, id: string): Promise<Reconciled | undefined> {
  const left = context.removals.get(id)
  if (left?.removeAfter === undefined) return undefined
  const waitMs = (msOf(left.removeAfter) ?? 0) - context.clock()
  if (waitMs > 0) return { afterMs: waitMs }
  const { object } = left
  const { removed, held } = await removeFiles(context, object, filesOf(context, object))
  if (held.length > 0) return { afterMs: heldMs }
  await context.removals.drop(id)
  reportRemoved(context, object, removed)
  return undefined
}

function reportRemoved(context: Context, object: StoredObject, [first]: readonly string[]): void {
  if (first === undefined) return
  const note = `removed ${first} from storage`
  context.objects.event({ object, type: 'Normal', reason: 'ArchiveRemoved', note })
}

/**
 * The manifest of a Module or Provider is missing, which may be a mistake: an archive stays until upstream is known to be
 * reachable. Then the Version is deleted, and its deletion removes the archive.
 */
async function confirmAbsence(
  context: Context,
  object: StoredObject,
  files: readonly string[],
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const problem = files.length > 0 ? await upstreamProblem(context, object, signal) : undefined
  if (problem === undefined) {
    const { uid } = object.metadata
    await context.objects.delete(refOf(object), { uid, whileOwnerAbsent: true })
    const now = context.objects.get('Version', object.metadata.namespace, object.metadata.name)
    return now?.metadata.deletionTimestamp === undefined || now.metadata.ownerAbsent === true
      ? undefined
      : removeVersion(context, now, signal)
  }
  const note = `left ${files[0]} in storage until upstream is reachable, because the manifest of its owner is missing: ${problem}`
  context.objects.event({ object, type: 'Warning', reason: 'ArchiveLeft', note })
  return { afterMs: jittered(absenceMs, object.metadata.uid) }
}

/** Explains why upstream gives no answer about a Version; undefined if it has answered. */
async function upstreamProblem(
  context: Context,
  object: StoredObject,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    const version = resourceOf('Version', object)
    await upstreamOf(context, planOf(context, version), { attempt: {}, signal }, 0)
    return undefined
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return answers.has(failure.reason) ? undefined : failure.message
  }
}

/** The result of a removal; files that others need are in neither list. */
interface Removal {
  readonly removed: readonly string[]
  /** Another Version is being stored as the same file: try again. */
  readonly held: readonly string[]
}

/** Removes files that no Version needs, and leaves files that an unknown Version may need. @throws RegistryError, FillError */
export async function removeFiles(
  context: Context,
  object: StoredObject,
  files: readonly StoredFile[],
): Promise<Removal> {
  for (const { at } of files) requireGrant(at, object.metadata.namespace)
  const unreadable = context.objects.unreadable()
  if (unreadable !== undefined) {
    const message = `${unreadable} cannot be read, and may hold a Version that needs the archive: correct or remove it`
    throw new FillError('ArchiveNotRemoved', message)
  }
  const removed: string[] = []
  const held: string[] = []
  const left: string[] = []
  for (const file of files) {
    const {
      fileName,
      at: { place, placeId },
    } = file
    if (!isAllKnown(context, file)) {
      left.push(fileName)
      continue
    }
    let others = othersNaming(context, file, object)
    if (!others.isShared && others.elsewhere.length > 0) {
      if (await isLinked(place, others.elsewhere, fileName)) continue
      // Asked again, so that nothing can happen between this and the removal.
      others = othersNaming(context, file, object)
    }
    if (others.isShared) continue
    const remove = () => place.driver.remove(place.object(fileName))
    const isDone = await context.inUse.remove(placeId, fileName, remove)
    if (isDone) removed.push(fileName)
    else held.push(fileName)
  }
  if (left.length > 0) reportLeft(context, object, left)
  return { removed, held }
}

function reportLeft(context: Context, object: StoredObject, [first]: readonly string[]): void {
  const { namespace } = object.metadata
  const note = `left ${first} in storage: a namespace that is not watched may need it. Watch all namespaces, or grant the place to ${namespace} alone with --storage-grants of the controller`
  context.objects.event({ object, type: 'Normal', reason: 'ArchiveLeft', note })
}

async function notRemoved(
  context: Context,
  object: StoredObject,
  error: unknown,
): Promise<FillError> {
  const message = `${explained(error)}; the annotation ${context.apiGroup}/orphan-archive: "true" deletes the Version without it`
  const failure = new FillError('ArchiveNotRemoved', message, { cause: error })
  await writeStatus<VersionStatus>(context, object, () => ({
    fields: { synced: false, syncStatus: `Sync failed: ${failure.message}` },
    conditions: { Ready: conditionFalse(failure.reason, failure.message) },
  }))
  context.objects.event({
    object,
    type: 'Warning',
    reason: 'SyncFailed',
    note: `${keyOf(object.metadata)}: ${failure.message}`,
  })
  return failure
}

type Place = StoragePlace['place']

/** A file in storage. */
export interface StoredFile {
  readonly fileName: string
  readonly at: StoragePlace
}

/** The same with their places. @throws FillError InvalidSpec if a place is not known */
function filesOf(context: Context, object: StoredObject): StoredFile[] {
  const { replaced = [], ...status } = versionStatus(object)
  const own = storedPlaceOf(context, resourceOf('Version', object))
  const previous = replaced.map((one) => {
    return { fileName: one.fileName, at: recordedPlace(context, one) ?? own }
  })
  const files = [...filesIn(status).map((fileName) => ({ fileName, at: own })), ...previous]
  return files.filter(({ fileName }) => !fileName.includes('/'))
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
