import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, msOf, timeOf } from '../context.ts'
import { jittered } from '../timings.ts'
import type { Placed } from './plan.ts'
import type { VersionStatus } from './status.ts'

export interface Verified {
  readonly state: 'whole' | 'lost'
  /** Fields of the artifact that say when it was looked at; empty where it was not due. */
  readonly seen: { readonly verifiedAt?: string; readonly rehashedAt?: string }
}

/** When a stored archive is to be looked at next, in milliseconds since 1970. */
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

/** Looks whether a stored archive is there, and now and then whether it is what was stored. @throws RegistryError */
export async function verifyStored(
  context: Context,
  object: StoredObject,
  { place }: Placed,
  signal: AbortSignal,
): Promise<Verified> {
  const artifact = (object.status as VersionStatus | undefined)?.artifact
  const { fileName, sha256, sizeBytes } = artifact ?? {}
  if (artifact === undefined || fileName === undefined) return { state: 'lost', seen: {} }
  const due = verificationDueMs(context, object, artifact)
  const nowMs = context.clock()
  const now = timeOf(nowMs)
  const name = place.object(fileName)
  const read = due.rehash <= nowMs
  if ((read || isRestored(object, artifact)) && sha256 !== undefined && sizeBytes !== undefined) {
    const isWhole = await place.driver.verify(name, { sizeBytes, sha256 }, { signal, read })
    return lostOr(context, isWhole, { verifiedAt: now, ...(read && { rehashedAt: now }) })
  }
  if (due.verify > nowMs) return { state: 'whole', seen: {} }
  return lostOr(context, await place.driver.check(name, { sizeBytes, sha256 }), { verifiedAt: now })
}

/**
 * Whether an object is younger than what its status says, as one from a backup is: storage went on meanwhile. Where
 * storage knows the digest of an object, nothing is read. Times in a status are whole seconds.
 */
function isRestored(
  { metadata: { creationTimestamp } }: StoredObject,
  { verifiedAt }: NonNullable<VersionStatus['artifact']>,
): boolean {
  const createdMs = Math.floor((msOf(creationTimestamp) ?? 0) / 1000) * 1000
  return createdMs > (msOf(verifiedAt) ?? createdMs)
}

function lostOr({ metrics }: Context, isWhole: boolean, seen: Verified['seen']): Verified {
  if (!isWhole) metrics.verifyFailed('ArchiveLost')
  return { state: isWhole ? 'whole' : 'lost', seen }
}
