import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { explained } from '../../egress/egress.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { dropFinalizer, finalizerOf, keyOf, resourceOf } from '../objects.ts'
import { conditionFalse, writeStatus } from '../status.ts'
import { absenceMs, jittered, msOf, timeOf } from '../timings.ts'
import { planOf, requireGrant, upstreamOf } from './plan.ts'
import {
  filesOf,
  isAllKnown,
  isLinked,
  leavesArchive,
  othersNaming,
  type StoredFile,
} from './references.ts'
import { placeFields } from './status.ts'
import { isRefusing, namesOf, type VersionStatus, versionStatus } from './work.ts'

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
