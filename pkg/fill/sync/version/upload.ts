/** Versions that people published: their archives, and who published them. */

import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  type Artifact,
  awaitedPlatforms,
  configRefOf,
  fileNameOf,
  normalizeVersion,
  openReleaseOf,
  type Published,
  type PublishedBy,
  sha256Hex,
  takenTextOf,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt as attempted, hasReason, jsonOf, messageOf } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import { type Objects, refOf, type StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { handled, keyOf, requestOf, resetForceSync, resourceOf } from '../objects.ts'
import { ownedBy, parentOfVersion, versionOfStored } from '../parent/versions.ts'
import { type StatusChange, writeStatus } from '../status.ts'
import { msOf, timeOf } from '../timings.ts'
import { type AwaitedReleases, providerOf, releaseIdOf, wakeRelease } from './in-work.ts'
import { heldForScan, placeOf, storedPlaceOf } from './plan.ts'
import { moveArchive } from './reuse.ts'
import { driftedStatus, keptStatus, placeFields } from './status.ts'
import { verifyStored } from './store.ts'
import type { PlacedVersion, VersionStatus, VersionWork } from './work.ts'

interface SyncedUpload extends Reconciled {
  /** The place of the archive, and whether storage was asked for it; undefined if there is nothing to do for it now. */
  readonly placed?: PlacedVersion & { readonly isChecked: boolean }
}

/**
 * Syncs a Version whose archive was put into storage by other means. The archive is checked, never fetched, and stays when
 * the Version is deleted.
 */
export async function syncUpload(context: Context, work: VersionWork): Promise<SyncedUpload> {
  const { object, version, attempt, signal } = work
  const archive = archiveOf(version)
  const { request } = requestOf(context, object)
  attempt.request = request
  const awaited = awaitRelease(context, work)
  if (awaited !== undefined) return awaited
  wakeRelease(context, object)
  const placed = placeOf(context, version)
  const { artifact } = version.status ?? {}
  const from = storedPlaceOf(context, version)
  if (artifact?.sha256 !== undefined && artifact.sha256 !== archive.sha256) {
    await refuse(context, work, archive.sha256)
    return {}
  }
  const isNamed = artifact?.fileName === archive.fileName
  const isElsewhere = from.placeId !== placed.placeId
  if (isNamed && isElsewhere && placed.place.isGrantedTo(object.metadata.namespace)) {
    const { sourceKey } = artifact
    const moved = await moveArchive(context, object, { from, to: placed, sourceKey, signal })
    if (moved === undefined) return {}
    if (moved !== false) {
      return syncUpload(context, { ...work, object: moved, version: resourceOf('Version', moved) })
    }
  }
  const known = isNamed && !isElsewhere ? artifact : undefined
  const stored =
    known !== undefined && request === undefined
      ? await verifyStored(context, object, placed, { signal })
      : undefined
  const found: FoundArchive =
    stored?.state === 'whole'
      ? { ...known, ...archive, ...stored.seen }
      : {
          ...(await check(context, work, placed, archive)),
          // It does not change when somebody requests a check.
          ...(known?.storedAt && { storedAt: known.storedAt }),
        }
  const published = await publishedOf(context, version, archive.sha256)
  await writeStatus<VersionStatus>(context, object, (status) => {
    const { fields, conditions } = uploadedStatus(context, work, placed, { status, known, found })
    return { fields: { ...fields, ...(published && { published }) }, conditions }
  })
  if (published !== undefined) await forgetPublication(context, version)
  await resetForceSync(context, object, request)
  return { placed: { ...placed, isChecked: stored?.isChecked !== false } }
}

/** All platforms of a release are created within moments. It is reported if they take longer. */
const publishingMs = 60_000

type Work = Pick<VersionWork, 'object' | 'version'>
type Records = Pick<Objects, 'get' | 'list'>

interface Awaiting {
  readonly objects: Records
  readonly clock: Clock
  readonly awaited: AwaitedReleases
}

/**
 * Holds a Version back until all platforms that were published with it have one, so that nobody is served half of a release.
 *
 * @returns when to look again; undefined: nothing is missing
 * @throws FillError ReleaseIncomplete
 */
export function awaitRelease(
  { objects, clock, awaited }: Awaiting,
  { object, version }: Work,
): Reconciled | undefined {
  const { metadata } = object
  awaited.end(keyOf(metadata))
  if (openReleaseOf(version) === undefined) return undefined
  const siblings = siblingsOf(objects, version)
  const lacking = awaitedPlatforms(version, siblings)
  if (lacking.length === 0) return undefined
  awaited.wait(releaseIdOf(object), refOf(object))
  const leftMs = (msOf(metadata.creationTimestamp) ?? 0) + publishingMs - clock()
  if (leftMs > 0) return { afterMs: leftMs }
  throw new FillError(
    'ReleaseIncomplete',
    `the release lacks ${lacking.join(', ')}: run depot publish provider again with the same zips, or delete the Versions of this release${takenTextOf(version, siblings)}`,
  )
}

/** Versions of the same version and provider: those that people published, and those that a Depot fetched. */
function siblingsOf(objects: Records, version: Version): readonly Version[] {
  const number = versionOfStored(version)
  const { namespace } = version.metadata
  const parent = parentOfVersion({ objects }, version)
  // A watch may deliver a Provider after its first Versions.
  const published = objects
    .list('Version', { namespace, ownerUid: '' })
    .filter((object) => providerOf(object) === version.spec.providerConfigRef?.name)
  return [...(parent ? ownedBy({ objects }, parent) : []), ...published]
    .filter(
      (object) =>
        versionOfStored(object) === number && object.metadata.deletionTimestamp === undefined,
    )
    .flatMap((object) => attempted(() => resourceOf('Version', object)) ?? [])
}

/** The archive that a spec names. */
interface NamedArchive {
  readonly fileName: string
  readonly sha256: string
}

/** @throws FillError InvalidSpec */
function archiveOf(version: Version): NamedArchive {
  const { upload, fileName: specFileName } = version.spec
  const sha256 = sha256Hex(upload?.sha256 ?? '')
  const fileName = upload?.fileName ?? specFileName ?? fileNameOf(version)
  if (sha256 === undefined) {
    throw new FillError('InvalidSpec', 'spec.upload.sha256 must be a SHA-256 digest')
  }
  if (fileName === undefined) throw new FillError('InvalidSpec', 'spec.upload.fileName is required')
  return { fileName, sha256 }
}

type FoundArchive = NamedArchive & Artifact

/** Reports an archive that is in storage. */
function uploadedStatus(
  { clock }: Context,
  { version, attempt }: VersionWork,
  placed: PlacedVersion,
  {
    status,
    known,
    found,
  }: {
    readonly status: VersionStatus | undefined
    /** The archive of the status, if it is the same file. */
    readonly known: Artifact | undefined
    readonly found: FoundArchive
  },
): StatusChange<VersionStatus> {
  const { upload } = version.spec
  const { sha256 } = found
  const { fields, conditions } = keptStatus(status, {})
  const nowMs = clock()
  return {
    fields: {
      ...fields,
      artifact: {
        contentDigest: upload?.contentDigest ?? `sha256:${sha256}`,
        revision: `sha256:${sha256}`,
        ...(upload?.docs && { docs: upload.docs }),
        ...placeFields(placed),
        ...(known?.docs && { docs: known.docs }),
        ...(known?.source && { source: known.source }),
        ...found,
      },
      checksum: Buffer.from(sha256, 'hex').toString('base64'),
      archiveSizeBytes: found.sizeBytes,
      ...(version.status?.artifact === undefined && {
        quarantinedBy: heldForScan(version, placed.parent, { status, sha256, nowMs }),
      }),
      ...handled(attempt.request, nowMs),
    },
    conditions,
  }
}

/** In a place of another tenant, a message only says whether the object has the digest that the caller named. */
async function check(
  { clock }: Context,
  { object, signal }: VersionWork,
  { place }: PlacedVersion,
  { fileName, sha256 }: NamedArchive,
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

/** The Version that a publication creates, and who publishes it. */
interface PublicationNote {
  readonly namespace: string
  readonly name: string
  readonly version: string
  /** Name in the config of the Module or Provider. */
  readonly config: string
  readonly sha256: string
  readonly published: Published
}

type Notes = NonNullable<Objects['publications']>

/** A publication takes minutes at most. Its Version is created at its end. */
const orphanedMs = 3_600_000

/**
 * Notes who publishes a Version, before it is created. People may create Versions, too, but not notes: a Version that names
 * this one has it from here.
 *
 * @returns the id that the Version has to name
 */
export async function notePublication(
  notes: Notes,
  version: Omit<PublicationNote, 'published'>,
  publisher: PublishedBy,
  clock: Clock,
): Promise<string> {
  const id = randomUUID()
  const published: Published = { ...publisher, at: timeOf(clock()) }
  const note: PublicationNote = { ...version, published }
  await notes.put(id, JSON.stringify(note))
  return id
}

/** The publisher of a Version whose status does not say it yet. @throws ApiError */
export async function publishedOf(
  { objects }: Pick<Context, 'objects'>,
  { metadata, spec, status }: Version,
  sha256: string,
): Promise<Published | undefined> {
  const id = spec.upload?.publication
  if (id === undefined || status?.published !== undefined) return undefined
  const { published, ...noted } = noteIn((await objects.publications?.get(id)) ?? '') ?? {}
  const { namespace, name } = metadata
  const version = normalizeVersion(spec.version)
  const config = spec[configRefOf[spec.type]]?.name
  return isDeepStrictEqual(noted, { namespace, name, version, config, sha256 })
    ? published
    : undefined
}

/** Removes the note of a Version whose status says who published it. @throws ApiError */
export async function forgetPublication(
  { objects }: Pick<Context, 'objects'>,
  { spec: { upload } }: Version,
): Promise<void> {
  if (upload?.publication !== undefined) await objects.publications?.drop(upload.publication)
}

/** Removes notes that a kill left without a Version, or behind one that has its status. Never rejects. */
export async function sweepPublications({ objects, clock, log }: Context): Promise<void> {
  const { publications } = objects
  if (publications === undefined) return
  try {
    for (const [id, text] of await publications.all()) {
      const note = noteIn(text)
      const isOld = clock() - (msOf(note?.published.at) ?? 0) > orphanedMs
      if (isOld && !isAwaited(objects, id, note)) await publications.drop(id)
    }
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'notes of publications cannot be cleaned up')
  }
}

function isAwaited(objects: Objects, id: string, note: PublicationNote | undefined): boolean {
  if (note === undefined) return false
  const found: StoredObject | undefined = objects.get('Version', note.namespace, note.name)
  const { spec, status } = (found ?? {}) as Partial<Version>
  return spec?.upload?.publication === id && status?.published === undefined
}

const noteIn = (text: string): PublicationNote | undefined =>
  jsonOf(text) as PublicationNote | undefined
