import { fileNameOf, sha256Hex } from '../../../api/v1alpha1/v1alpha1.ts'
import { hasReason } from '../../../base/errors/errors.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { resourceOf } from '../objects.ts'
import { handled, requestOf, resetForceSync } from '../requests.ts'
import { writeStatus } from '../status.ts'
import { timeOf } from '../timings.ts'
import { keepBelongings } from './belongings.ts'
import { moveArchive } from './move.ts'
import { heldForScan, placeOf, storedPlaceOf } from './plan.ts'
import { forgetPublication, publishedOf } from './publications.ts'
import { awaitRelease, wakeRelease } from './release.ts'
import { driftedStatus, keptStatus, placeFields } from './status.ts'
import { verifyStored } from './verify.ts'
import type { PlacedVersion, VersionStatus, VersionWork } from './work.ts'

/**
 * Syncs a Version whose archive was put into storage by other means. The archive is checked, never fetched, and stays when
 * the Version is deleted.
 */
export async function syncUpload(
  context: Context,
  work: VersionWork,
): Promise<Reconciled | undefined> {
  const { object, version, attempt, signal } = work
  const { upload, fileName: specFileName } = version.spec
  const sha256 = sha256Hex(upload?.sha256 ?? '')
  const fileName = upload?.fileName ?? specFileName ?? fileNameOf(version)
  if (sha256 === undefined) {
    throw new FillError('InvalidSpec', 'spec.upload.sha256 must be a SHA-256 digest')
  }
  if (fileName === undefined) throw new FillError('InvalidSpec', 'spec.upload.fileName is required')
  const { request } = requestOf(context, object)
  attempt.request = request
  const awaited = awaitRelease(context, work)
  if (awaited !== undefined) return awaited
  wakeRelease(context, object)
  const placed = placeOf(context, version)
  const { artifact } = version.status ?? {}
  const from = storedPlaceOf(context, version)
  if (artifact?.sha256 !== undefined && artifact.sha256 !== sha256) {
    await refuse(context, work, sha256)
    return {}
  }
  const isElsewhere = from.placeId !== placed.placeId
  if (
    artifact?.fileName === fileName &&
    isElsewhere &&
    placed.place.isGrantedTo(object.metadata.namespace)
  ) {
    const { sourceKey } = artifact
    const moved = await moveArchive(context, object, { from, to: placed, sourceKey, signal })
    if (moved !== false)
      return (
        moved &&
        syncUpload(context, { ...work, object: moved, version: resourceOf('Version', moved) })
      )
  }
  const isSame = artifact?.fileName === fileName && !isElsewhere
  const stored =
    isSame && request === undefined
      ? await verifyStored(context, object, placed, { signal })
      : undefined
  const found =
    stored?.state === 'whole'
      ? { ...artifact, ...stored.seen }
      : {
          ...(await check(context, work, placed, { fileName, sha256 })),
          // It does not change when somebody requests a check.
          ...(isSame && artifact.storedAt && { storedAt: artifact.storedAt }),
        }
  const published = await publishedOf(context, version, sha256)
  await writeStatus<VersionStatus>(context, object, (status) => {
    const { fields, conditions } = keptStatus(status, {})
    const contentDigest = upload?.contentDigest ?? `sha256:${sha256}`
    return {
      fields: {
        ...fields,
        artifact: {
          contentDigest,
          revision: `sha256:${sha256}`,
          ...(upload?.docs && { docs: upload.docs }),
          ...placeFields(placed),
          ...(isSame && artifact.docs && { docs: artifact.docs }),
          ...(isSame && artifact.source && { source: artifact.source }),
          ...found,
        },
        checksum: Buffer.from(sha256, 'hex').toString('base64'),
        archiveSizeBytes: found.sizeBytes,
        ...(published && { published }),
        ...(artifact === undefined && {
          quarantinedBy: heldForScan(version, placed.parent, {
            status,
            sha256,
            nowMs: context.clock(),
          }),
        }),
        ...handled(request, context.clock()),
      },
      conditions,
    }
  })
  if (published !== undefined) await forgetPublication(context, version)
  await resetForceSync(context, object, request)
  return keepBelongings(context, object, placed, placed.parent, {
    signal,
    isChecked: stored?.isChecked !== false,
    request,
  })
}

/** In a place of another tenant, a message only says whether the object has the digest that the caller named. */
async function check(
  { clock }: Context,
  { object, signal }: VersionWork,
  { place }: PlacedVersion,
  { fileName, sha256 }: { readonly fileName: string; readonly sha256: string },
) {
  const name = place.object(fileName)
  const isOwn = place.isGrantedTo(object.metadata.namespace)
  const missing = (what: string) => {
    const problem = isOwn ? what : 'is not in storage with the digest of spec.upload.sha256, at'
    const where = place.prefix || 'the container'
    return new FillError('ArchiveMissing', `${fileName} ${problem} ${where}`)
  }
  const { sizeBytes } = await place.driver.stat(name).catch((error: unknown) => {
    throw hasReason(error, 'NotFound') ? missing('is not in storage, at') : error
  })
  if (!(await place.driver.verify(name, { sizeBytes, sha256 }, { signal }))) {
    throw missing('does not have the digest of spec.upload.sha256, at')
  }
  const now = timeOf(clock())
  return { fileName, sha256, sizeBytes, storedAt: now, verifiedAt: now, rehashedAt: now }
}

async function refuse(
  context: Context,
  { object: before }: VersionWork,
  sha256: string,
): Promise<void> {
  const upstream = { revision: `sha256:${sha256}`, contentDigest: `sha256:${sha256}` }
  const how = { isRefused: true, nowMs: context.clock() }
  const object = await writeStatus<VersionStatus>(context, before, (status) =>
    driftedStatus(status, upstream, how),
  )
  if (object === undefined) return
  const note = 'a published version keeps its archive: publish another version'
  context.objects.event({ object, type: 'Warning', reason: 'UpstreamChanged', note })
}
