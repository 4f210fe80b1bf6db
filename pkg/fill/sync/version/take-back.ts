import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { latestOf } from '../objects.ts'
import { quarantinedByPolicy } from '../parent/quarantine.ts'
import { writeStatus } from '../status.ts'
import { timeOf } from '../timings.ts'
import { recordedPlace } from './plan.ts'
import { filesIn, type VersionPlan, type VersionStatus, versionStatus } from './work.ts'

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
