import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { hasReason } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, latestOf } from '../context.ts'
import { writeStatus } from '../status.ts'
import type { StoragePlace } from './plan.ts'
import { filesIn, movedStatus } from './status.ts'
import { storeFile } from './store.ts'
import { type VersionStatus, versionStatus } from './work.ts'

interface Move {
  readonly from: StoragePlace
  readonly to: StoragePlace
  /** Digest of the source of the archive in its new place; undefined if the source is another one. */
  readonly sourceKey: string | undefined
  readonly signal: AbortSignal
}

/**
 * Copies a stored archive and its documents to another place, from which servers serve it as soon as the status names it. The
 * files in the old place stay for a while.
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
  const letGo = await context.inUse.hold(to.placeId, files)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(context.timings.uploadMs)])
  try {
    for (const fileName of files) {
      const sha256 = fileName === artifact.fileName ? artifact.sha256 : undefined
      if (!(await copy(context, fileName, sha256, { from, to, signal: deadline }))) return false
    }
    const replacing = { from, to, nowMs: context.clock(), graceMs: context.timings.removalGraceMs }
    return await writeStatus<VersionStatus>(context, latestOf(context, object), (status) =>
      movedStatus(status, sourceKey, replacing),
    )
  } finally {
    letGo()
  }
}

/** @returns false if the file is missing, or has another digest than the expected one */
async function copy(
  { spool }: Context,
  fileName: string,
  expected: string | undefined,
  { from, to, signal }: Pick<Move, 'from' | 'to' | 'signal'>,
): Promise<boolean> {
  const source = await from.place.driver
    .open(from.place.object(fileName))
    .catch((error: unknown) => {
      if (hasReason(error, 'NotFound')) return undefined
      throw error
    })
  if (source === undefined) return false
  const { info, body } = source
  const reserved = await spool.reserve(info.sizeBytes, { signal }).catch((error: unknown) => {
    body.close()
    throw error
  })
  try {
    const hash = createHash('sha256')
    try {
      await using file = await open(reserved.path, 'w')
      for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
        signal.throwIfAborted()
        hash.update(chunk)
        await file.writeFile(chunk)
      }
    } finally {
      body.close()
    }
    const sha256 = hash.digest('hex')
    if (expected !== undefined && sha256 !== expected) return false
    const local = { path: reserved.path, sizeBytes: info.sizeBytes, sha256 }
    await storeFile(to.place, fileName, local, signal)
    return true
  } finally {
    await reserved.remove()
  }
}
