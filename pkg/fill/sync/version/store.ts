import { createHash, hash } from 'node:crypto'
import { open, rm, writeFile } from 'node:fs/promises'
import { docsFileName } from '../../../api/v1alpha1/v1alpha1.ts'
import type { PackedDocs } from '../../../archives/docs/docs.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { ArchivePlace, LocalFile } from '../../../archives/storage/storage.ts'
import { ifFound } from '../../../base/errors/errors.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { undocumented } from './fetch.ts'
import type { Candidate } from './work.ts'

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
