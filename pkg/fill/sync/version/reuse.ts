/** Gives a Version an archive from storage: the one that an equal Version left, or its own from another place. */

import { sourceFileOf } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { latestOf } from '../objects.ts'
import { quarantinedByPolicy } from '../parent/quarantine.ts'
import { writeStatus } from '../status.ts'
import { timeOf, within } from '../timings.ts'
import { recordedPlace } from './plan.ts'
import { movedStatus } from './status.ts'
import { readStored, storeFile } from './store.ts'
import {
  docsIn,
  filesIn,
  type StoragePlace,
  type VersionPlan,
  type VersionStatus,
  versionStatus,
} from './work.ts'

/**
 * Gives a Version the archive that an equal one left in storage, so that it is not fetched. The archive is read, and has to
 * have its digest. It does not reuse an archive that a person gave up to get the content of upstream.
 *
 * @returns the object with its new status; undefined if nothing usable was left
 * @throws RegistryError, ApiError
 */
export async function takeBack(
  context: Context,
  object: StoredObject,
  plan: VersionPlan,
  signal: AbortSignal,
): Promise<StoredObject | undefined> {
  for (const { left, at, artifact, status } of usableFor(context, object, plan)) {
    const { fileName, ...expected } = artifact
    const letGo = await context.inUse.hold(at.placeId, filesIn(status))
    try {
      const { driver, object: nameOf } = at.place
      if (!(await driver.verify(nameOf(fileName), expected, { signal }))) continue
      const verifiedAt = timeOf(context.clock())
      const returned = await writeStatus<VersionStatus>(context, latestOf(context, object), () => ({
        // Its README went with the Version before.
        fields: {
          ...status,
          artifact: { ...status.artifact, verifiedAt },
          quarantinedBy: quarantinedByPolicy(context, plan, status.quarantinedBy),
          readmeDocs: undefined,
        },
        conditions: {},
      }))
      if (returned !== undefined) await context.removals.drop(left.id)
      return returned
    } finally {
      letGo()
    }
  }
  return undefined
}

/** Whether a Version would get such an archive, by what storage reports of it. */
export async function mayTakeBack(
  context: Context,
  object: StoredObject,
  plan: VersionPlan,
): Promise<boolean> {
  for (const { at, artifact } of usableFor(context, object, plan)) {
    const { driver, object: nameOf } = at.place
    const { fileName, ...expected } = artifact
    if (await driver.check(nameOf(fileName), expected).catch(() => false)) return true
  }
  return false
}

/** Archives that equal Versions left and that this one may have. */
function* usableFor(context: Context, object: StoredObject, plan: VersionPlan) {
  for (const left of context.removals.of(object)) {
    if (left.acceptsUpstream === true) continue
    const { drift: _, ...status } = versionStatus(left.object)
    const { fileName, sha256, sizeBytes, sourceKey } = status.artifact ?? {}
    const at = recordedPlace(context, status.artifact)
    if (at === undefined || sourceKey !== plan.keyIn(at)) continue
    if (fileName === undefined || sha256 === undefined || sizeBytes === undefined) continue
    if (!at.place.isGrantedTo(object.metadata.namespace)) continue
    yield { left, at, status, artifact: { fileName, sha256, sizeBytes } }
  }
}

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
  const deadline = within(signal, context.timings.uploadMs)
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
