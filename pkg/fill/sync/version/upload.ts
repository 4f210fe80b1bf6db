import { fileNameOf, sha256Hex } from '../../../api/v1alpha1/v1alpha1.ts'
import { RegistryError } from '../../../base/errors/errors.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { type Context, timeOf } from '../context.ts'
import { Failure, mistake } from '../failure.ts'
import { handled, requestOf, resetForceSync } from '../requests.ts'
import { writeStatus } from '../status.ts'
import { type Placed, placeOf } from './plan.ts'
import { driftedStatus, keptStatus, type VersionStatus } from './status.ts'
import type { Work } from './sync-version.ts'
import { verificationDueMs, verifyStored } from './verify.ts'

/**
 * A Version whose archive was put into storage by other means: it is checked, never fetched, and left there when the
 * Version is deleted.
 */
export async function syncUpload(context: Context, work: Work): Promise<Reconciled | undefined> {
  const { object, version, attempt, signal } = work
  const sha256 = sha256Hex(version.spec.upload?.sha256 ?? '')
  const fileName = version.spec.upload?.fileName ?? version.spec.fileName ?? fileNameOf(version)
  if (sha256 === undefined) {
    throw mistake('InvalidSpec', 'spec.upload.sha256 must be a SHA-256 digest')
  }
  if (fileName === undefined) throw mistake('InvalidSpec', 'spec.upload.fileName is required')
  const request = requestOf(context, object)
  if (request !== undefined && !('afterMs' in request)) attempt.request = request
  const placed = placeOf(context, version)
  const { artifact } = version.status ?? {}
  if (artifact?.sha256 !== undefined && artifact.sha256 !== sha256) {
    await refuse(context, work, sha256)
    return {}
  }
  const isKnown = artifact?.fileName === fileName && attempt.request === undefined
  const seen = isKnown
    ? await verifyStored(context, object, placed, signal)
    : { state: 'lost', seen: {} }
  const found =
    seen.state === 'whole'
      ? { ...artifact, ...seen.seen }
      : await check(context, work, placed, { fileName, sha256 })
  await writeStatus<VersionStatus>(context, object, (status) => {
    const { fields, conditions } = keptStatus(status, {})
    const contentDigest = version.spec.upload?.contentDigest ?? `sha256:${sha256}`
    return {
      fields: {
        ...fields,
        artifact: { contentDigest, revision: `sha256:${sha256}`, ...found },
        checksum: Buffer.from(sha256, 'hex').toString('base64'),
        archiveSizeBytes: found.sizeBytes,
        ...handled(attempt.request, context.clock()),
      },
      conditions,
    }
  })
  await resetForceSync(context, object, attempt.request)
  const due = verificationDueMs(context, object, found)
  return { afterMs: Math.max(0, Math.min(due.verify, due.rehash) - context.clock()) }
}

/** In a place of others nothing is said of an object but that it has the digest, which the caller knew. */
async function check(
  { clock }: Context,
  { object, signal }: Work,
  { place }: Placed,
  { fileName, sha256 }: { readonly fileName: string; readonly sha256: string },
) {
  const name = place.object(fileName)
  const isOwn = place.isGrantedTo(object.metadata.namespace)
  const missing = (what: string) => {
    const said = isOwn ? what : 'is not in storage with the digest of spec.upload.sha256, at'
    return new Failure('ArchiveMissing', `${fileName} ${said} ${place.prefix || 'the container'}`)
  }
  const info = await place.driver.stat(name).catch((error: unknown) => {
    throw error instanceof RegistryError && error.reason === 'NotFound'
      ? missing('is not in storage, at')
      : error
  })
  const { sizeBytes } = info
  if (!(await place.driver.verify(name, { sizeBytes, sha256 }, { signal }))) {
    throw missing('does not have the digest of spec.upload.sha256, at')
  }
  const now = timeOf(clock())
  return { fileName, sha256, sizeBytes, storedAt: now, verifiedAt: now, rehashedAt: now }
}

async function refuse(context: Context, { object }: Work, sha256: string): Promise<void> {
  const upstream = { revision: `sha256:${sha256}`, contentDigest: `sha256:${sha256}` }
  const how = { isRefused: true, nowMs: context.clock() }
  const written = await writeStatus<VersionStatus>(context, object, (status) =>
    driftedStatus(status, upstream, how),
  )
  if (written === undefined) return
  const note = 'a published version keeps its archive: publish another version'
  context.objects.event({ object: written, type: 'Warning', reason: 'UpstreamChanged', note })
}
