import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { jittered, msOf, timeOf } from '../timings.ts'
import { type StoragePlace, type StoredState, type VersionStatus, versionStatus } from './work.ts'

/** When to check a stored archive next, in milliseconds since 1970. */
export function verificationDueMs(
  { timings }: Context,
  { metadata: { uid } }: StoredObject,
  artifact: NonNullable<VersionStatus['artifact']>,
): { readonly verify: number; readonly rehash: number } {
  return {
    verify: (msOf(artifact.verifiedAt) ?? 0) + jittered(timings.verifyMs, uid),
    rehash: (msOf(artifact.rehashedAt ?? artifact.storedAt) ?? 0) + jittered(timings.rehashMs, uid),
  }
}

/**
 * Checks that a stored archive exists, and from time to time that its bytes are right.
 *
 * @param options.now whether to check although no check is due
 * @throws RegistryError
 */
export async function verifyStored(
  context: Context,
  object: StoredObject,
  { place }: StoragePlace,
  { signal, now: isNow = false }: { readonly signal: AbortSignal; readonly now?: boolean },
): Promise<StoredState> {
  const { artifact } = versionStatus(object)
  const { fileName, sha256, sizeBytes } = artifact ?? {}
  if (artifact === undefined || fileName === undefined)
    return { state: 'lost', isChecked: false, seen: {} }
  const due = verificationDueMs(context, object, artifact)
  // A plan does not need storage.
  if (!Number.isFinite(due.verify)) return { state: 'whole', isChecked: false, seen: {} }
  const nowMs = context.clock()
  const now = timeOf(nowMs)
  const name = place.object(fileName)
  const atStart = context.verified.has(object.metadata.uid) ? undefined : context.verifyAtStart
  const read = atStart === 'read' || due.rehash <= nowMs
  if ((read || isRestored(object, artifact)) && sha256 !== undefined && sizeBytes !== undefined) {
    const isWhole = await place.driver.verify(name, { sizeBytes, sha256 }, { signal, read })
    return checked(context, object, isWhole, { verifiedAt: now, ...(read && { rehashedAt: now }) })
  }
  const isDue = due.verify <= nowMs
  if (!isDue && !isNow && atStart === undefined)
    return { state: 'whole', isChecked: false, seen: {} }
  const isWhole = await place.driver.check(name, { sizeBytes, sha256 })
  return checked(context, object, isWhole, isDue ? { verifiedAt: now } : {})
}

/**
 * Whether an object is younger than its status, as after a restore from a backup: storage may have changed meanwhile.
 * Nothing is read if storage knows the digest of the archive. Times in a status are whole seconds.
 */
function isRestored(
  { metadata: { creationTimestamp } }: StoredObject,
  { verifiedAt }: NonNullable<VersionStatus['artifact']>,
): boolean {
  const createdMs = Math.floor((msOf(creationTimestamp) ?? 0) / 1000) * 1000
  return createdMs > (msOf(verifiedAt) ?? createdMs)
}

/** The outcome of a check. A lost archive is checked each time, until it is stored again. */
function checked(
  { metrics, verified }: Context,
  { metadata: { uid } }: StoredObject,
  isWhole: boolean,
  seen: StoredState['seen'],
): StoredState {
  if (isWhole) verified.add(uid)
  else metrics.verifyFailed('ArchiveLost')
  return { state: isWhole ? 'whole' : 'lost', isChecked: true, seen }
}
