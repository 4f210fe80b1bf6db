import { sourceFileOf } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { latestOf } from '../objects.ts'
import { writeStatus } from '../status.ts'
import { movedStatus } from './status.ts'
import { readStored, storeFile } from './store.ts'
import { docsIn, filesIn, type StoragePlace, type VersionStatus, versionStatus } from './work.ts'

interface Move {
  readonly from: StoragePlace
  readonly to: StoragePlace
  /** Digest of the source of the archive in its new place; undefined if the source has changed. */
  readonly sourceKey: string | undefined
  readonly signal: AbortSignal
}

/**
 * Copies a stored archive with what is stored next to it to another place, from which servers serve it as soon as the
 * status names it. The files in the old place stay for a while.
 *
 * @returns the object with its new status, or undefined if it changed meanwhile; false if the archive has to be fetched
 * @throws RegistryError, FillError
 */
export async function moveArchive(
  context: Context,
  object: StoredObject,
  { from, to, sourceKey, signal }: Move,
): Promise<StoredObject | undefined | false> {
  const { artifact, release } = versionStatus(object)
  const { namespace } = object.metadata
  // Storage credentials reach the places of every tenant, and a status may name any of them.
  if (artifact?.sha256 === undefined || !from.place.isGrantedTo(namespace)) return false
  const files = filesIn({ artifact, release })
  const extras = new Map([
    [docsIn(artifact), 'docs'],
    [sourceFileOf(artifact), 'source'],
  ] as const)
  const without = new Set<'docs' | 'source'>()
  const letGo = await context.inUse.hold(to.placeId, files)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(context.timings.uploadMs)])
  const digests = new Map([
    [artifact.fileName, artifact.sha256],
    [docsIn(artifact), artifact.docs?.sha256],
    [sourceFileOf(artifact), artifact.source?.sha256],
  ])
  try {
    for (const fileName of files) {
      const sha256 = digests.get(fileName)
      if (await copy(context, fileName, sha256, { from, to, signal: deadline })) continue
      const extra = extras.get(fileName)
      if (extra === undefined) return false
      without.add(extra)
    }
    const replacing = { from, to, nowMs: context.clock(), graceMs: context.timings.removalGraceMs }
    return await writeStatus<VersionStatus>(context, latestOf(context, object), (status) =>
      movedStatus(status, { sourceKey, without }, replacing),
    )
  } finally {
    letGo()
  }
}

/** @returns false if the file is missing, or has another digest than the expected one */
async function copy(
  context: Context,
  fileName: string,
  expected: string | undefined,
  { from, to, signal }: Pick<Move, 'from' | 'to' | 'signal'>,
): Promise<boolean> {
  const file = await readStored(context, from.place, fileName, { signal })
  if (file === undefined) return false
  try {
    const { path } = file.reserved
    if (expected !== undefined && file.sha256 !== expected) return false
    const local = { path, sizeBytes: file.sizeBytes, sha256: file.sha256 }
    await storeFile(to.place, fileName, local, signal)
    return true
  } finally {
    await file.reserved.remove()
  }
}
