/** Archives on their way from an upstream into storage, and back: rewritten, stored, read and checked. */

import { createHash, hash } from 'node:crypto'
import { open, rename, rm, writeFile } from 'node:fs/promises'
import { docsFileName, storedName } from '../../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveFormat,
  type ArchiveLimits,
  inspectProvider,
  normaliseModule,
} from '../../../archives/archive/archive.ts'
import { type PackedDocs, PageCollector, packedDocs } from '../../../archives/docs/docs.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { ArchivePlace, LocalFile } from '../../../archives/storage/storage.ts'
import { ifFound } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import {
  type FetchedArchive,
  type FetchOptions,
  FillError,
  type ProviderRelease,
} from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { jittered, msOf, pastMsOf, timeOf } from '../timings.ts'
import {
  type Candidate,
  type ReleaseDocument,
  type StoragePlace,
  type StoredState,
  type VersionStatus,
  versionStatus,
} from './work.ts'

/** The objects that are stored for an archive: its documents, its documentation, and itself. */
export function objectsOf({ fileName, sha256, docs, release }: Candidate): string[] {
  const documents = release?.documents.map((document) => document.fileName) ?? []
  return [fileName, ...documents, ...(docs ? [docsFileName(fileName, sha256)] : [])]
}

/**
 * Puts an archive with its documents and documentation into storage, and reads them back.
 *
 * @returns what is stored: without documentation if that failed
 * @throws FillError, RegistryError
 */
export async function store(
  context: Context,
  place: ArchivePlace,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<Candidate> {
  for (const { fileName, bytes } of candidate.release?.documents ?? []) {
    await storeBytes(context, place, { fileName, bytes, sha256: hash('sha256', bytes) }, signal)
  }
  const { file, fileName, sizeBytes, sha256 } = candidate
  await storeFile(place, fileName, { path: file.path, sizeBytes, sha256 }, signal)
  return { ...candidate, docs: await storeDocs(context, place, candidate, signal) }
}

/** Stores the documentation of an archive. A failure is logged. */
export async function storeDocs(
  context: Pick<Context, 'spool' | 'log'>,
  place: ArchivePlace,
  { fileName, sha256, docs }: Pick<Candidate, 'fileName' | 'sha256' | 'docs'>,
  signal: AbortSignal,
): Promise<PackedDocs | undefined> {
  if (docs === undefined) return undefined
  try {
    const name = docsFileName(fileName, sha256)
    await storeBytes(context, place, { ...docs, fileName: name }, signal)
    return docs
  } catch (err) {
    if (signal.aborted) throw err
    context.log.warn({ archive: fileName, err }, undocumented)
    return undefined
  }
}

interface SmallFile {
  readonly fileName: string
  readonly bytes: Buffer
  readonly sha256: string
}

/** Stores bytes under a name that holds a digest. @throws FillError, RegistryError */
export async function storeBytes(
  { spool }: Pick<Context, 'spool'>,
  place: ArchivePlace,
  file: SmallFile,
  signal: AbortSignal,
): Promise<void> {
  const reserved = await spool.reserve(0, { signal })
  try {
    await storeSmall(place, file, reserved.path, signal)
  } finally {
    await reserved.remove()
  }
}

/** Stores bytes by way of a file, which is removed afterwards. @throws FillError, RegistryError */
export async function storeSmall(
  place: ArchivePlace,
  { fileName, bytes, sha256 }: SmallFile,
  path: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await writeFile(path, bytes)
    await storeFile(place, fileName, { path, sizeBytes: bytes.length, sha256 }, signal)
  } finally {
    await rm(path, { force: true })
  }
}

/** A name holds a digest, so an existing object is either the same or was altered. */
export async function storeFile(
  place: ArchivePlace,
  fileName: string,
  file: LocalFile,
  signal: AbortSignal,
): Promise<void> {
  const { driver, object } = place
  const name = object(fileName)
  const outcome = await driver.put(name, file, { signal })
  if (await driver.verify(name, file, { signal })) return
  if (outcome === 'exists') {
    await driver.remove(name)
    await driver.put(name, file, { signal })
    if (await driver.verify(name, file, { signal })) return
  }
  throw new FillError(
    'StorageFailed',
    `storage altered ${fileName}: the stored bytes differ from the bytes that were sent`,
  )
}

/** A copy of a stored file in the spool. */
interface CopiedFile {
  readonly reserved: SpoolFile
  readonly sizeBytes: number
  readonly sha256: string
}

interface Reading {
  readonly signal: AbortSignal
  /** Room to reserve for a file of this size; default: the size. */
  readonly roomFor?: (sizeBytes: number) => number
}

/** Copies a file from storage into the spool. @returns undefined if it is missing. @throws RegistryError */
export async function readStored(
  { spool }: Pick<Context, 'spool'>,
  { driver, object }: ArchivePlace,
  fileName: string,
  { signal, roomFor = (sizeBytes) => sizeBytes }: Reading,
): Promise<CopiedFile | undefined> {
  const source = await ifFound(driver.open(object(fileName)))
  if (source === undefined) return undefined
  const { info, body } = source
  const reserved = await spool
    .reserve(roomFor(info.sizeBytes), { signal })
    .catch((error: unknown) => {
      body.close()
      throw error
    })
  try {
    const digest = createHash('sha256')
    await using file = await open(reserved.path, 'w')
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      signal.throwIfAborted()
      digest.update(chunk)
      await file.writeFile(chunk)
    }
    return { reserved, sizeBytes: info.sizeBytes, sha256: digest.digest('hex') }
  } catch (error) {
    await reserved.remove()
    throw error
  } finally {
    body.close()
  }
}

/** When to check a stored archive next, in milliseconds since 1970. */
export function verificationDueMs(
  { timings, clock }: Context,
  { metadata: { uid } }: StoredObject,
  artifact: NonNullable<VersionStatus['artifact']>,
): { readonly verify: number; readonly rehash: number } {
  const { verifiedAt, rehashedAt, storedAt } = artifact
  const nowMs = clock()
  return {
    verify: pastMsOf(verifiedAt, nowMs) + jittered(timings.verifyMs, uid),
    rehash: pastMsOf(rehashedAt ?? storedAt, nowMs) + jittered(timings.rehashMs, uid),
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
  { log, metrics, verified }: Context,
  object: StoredObject,
  isWhole: boolean,
  seen: StoredState['seen'],
): StoredState {
  const { uid, namespace, name } = object.metadata
  if (isWhole) verified.add(uid)
  else {
    metrics.verifyFailed('ArchiveLost')
    const version = `${namespace}/${name}`
    const archive = versionStatus(object).artifact?.fileName
    log.warn({ version, archive }, 'a stored archive is missing or altered')
  }
  return { state: isWhole ? 'whole' : 'lost', isChecked: true, seen }
}

/** Maximum disk space that unpacking and repacking a module takes, by the size of its archive. */
export function rewritingBytes(sizeBytes: number, limits: ArchiveLimits): number {
  const { packedBytes, unpackedBytes, ratio, ratioAboveBytes } = limits
  const unpacked = Math.min(unpackedBytes, Math.max(ratioAboveBytes, sizeBytes * ratio))
  return unpacked + Math.min(packedBytes, unpacked)
}

/**
 * Reserves room to unpack and repack a module. The wait has a deadline, because several fetched modules could wait for one
 * another in a small spool.
 *
 * @throws FillError WaitingForSpool
 */
async function roomBeside(
  { file, sizeBytes }: FetchedArchive,
  { spool, limits, timings: { roomMs } }: Context,
  { signal, onWaiting }: FetchOptions,
): Promise<SpoolFile> {
  const available = spool.sizeBytes - file.reservedBytes
  const wanted = Math.min(rewritingBytes(sizeBytes, limits.module), available)
  const deadline = AbortSignal.timeout(roomMs)
  try {
    return await spool.reserve(wanted, { signal: AbortSignal.any([signal, deadline]), onWaiting })
  } catch (cause) {
    if (signal.aborted || !deadline.aborted) throw cause
    throw new FillError('WaitingForSpool', 'the spool is full: raise --spool-size', { cause })
  }
}

/** Logged; the archive is served all the same. */
export const undocumented = 'the documentation of an archive could not be made'

/** Rewrites a fetched module, so that the same files give the same bytes. */
export async function fetchModule(
  context: Context,
  fetched: FetchedArchive,
  { format, stem }: { readonly format: ArchiveFormat; readonly stem: string },
  options: FetchOptions,
): Promise<Candidate> {
  const { path, revision } = fetched
  try {
    const file = await roomBeside(fetched, context, options)
    let docs: PackedDocs | undefined
    try {
      const archive = await normaliseModule({
        file: fetched.file.path,
        into: `${file.path}.normal`,
        format,
        path,
        limits: context.limits.module,
        signal: options.signal,
        visit: async ({ files, read }) => {
          docs = await packedDocs(files, read).catch((err: unknown) => {
            context.log.warn({ module: stem, err }, undocumented)
            return undefined
          })
        },
      })
      await rename(archive.file, file.path)
      const { sha256, sizeBytes, contentDigest, extension } = archive
      file.shrink(sizeBytes)
      const fileName = storedName(stem, `-${sha256.slice(0, 12)}${extension}`)
      return { file, fileName, sha256, sizeBytes, contentDigest, revision, docs }
    } catch (error) {
      await file.remove()
      throw error
    }
  } finally {
    await fetched.file.remove()
  }
}

/** Inspects the fetched archive of a verified release. */
export async function fetchProvider(
  { file }: FetchedArchive,
  release: ProviderRelease,
  { type, limits }: { readonly type: string; readonly limits: ArchiveLimits },
  { signal }: FetchOptions,
): Promise<Candidate> {
  try {
    const pages = new PageCollector()
    const visit = pages.take
    const inspected = await inspectProvider({ file: file.path, type, limits, signal, visit })
    const { sha256, sizeBytes, h1, contentDigest } = inspected
    if (sha256 !== release.shasum) {
      throw new FillError(
        'ChecksumMismatch',
        'the archive changed between its download and its check',
      )
    }
    const { fileName, revision, signer, signatureState } = release
    const stem = fileName.replace(/\.zip$/i, '')
    return {
      file,
      fileName: storedName(stem, `-${sha256.slice(0, 12)}.zip`),
      sha256,
      sizeBytes,
      contentDigest,
      revision,
      docs: await pages.packed(),
      hashes: [h1, ...new Set([`zh:${sha256}`, ...[...release.hashes.values()].toSorted()])],
      release: {
        fileName,
        documents: documentsOf(type, release),
        keyFingerprint: signer?.fingerprint,
        isSigned: signatureState === 'Verified',
      },
    }
  } catch (error) {
    await file.remove()
    throw error
  }
}

/** The documents of a release. Their names hold their digests, so each is written once. */
function documentsOf(
  type: string,
  { version, shasums, signature, key }: ProviderRelease,
): ReleaseDocument[] {
  const document = (field: ReleaseDocument['field'], ending: string, bytes: Buffer) => {
    const digest = hash('sha256', bytes).slice(0, 12)
    return { field, bytes, fileName: storedName(`${type}_${version}`, `_${digest}.${ending}`) }
  }
  return [
    document('shasums', 'SHA256SUMS', shasums),
    ...(signature === undefined ? [] : [document('signature', 'SHA256SUMS.sig', signature)]),
    ...(key === undefined ? [] : [document('keys', 'keys.asc', Buffer.from(key))]),
  ]
}
