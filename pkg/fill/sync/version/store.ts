import { hash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { ArchivePlace, LocalFile } from '../../../archives/storage/storage.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { Candidate } from './work.ts'

/** Puts an archive and its documents into storage, and reads them back. @throws FillError, RegistryError */
export async function store(
  { spool }: Context,
  place: ArchivePlace,
  candidate: Candidate,
  signal: AbortSignal,
): Promise<void> {
  for (const { fileName, bytes } of candidate.release?.documents ?? []) {
    const reserved = await spool.reserve(0, { signal })
    try {
      await writeFile(reserved.path, bytes)
      const document = {
        path: reserved.path,
        sizeBytes: bytes.length,
        sha256: hash('sha256', bytes),
      }
      await storeFile(place, fileName, document, signal)
    } finally {
      await reserved.remove()
    }
  }
  const { file, fileName, sizeBytes, sha256 } = candidate
  await storeFile(place, fileName, { path: file.path, sizeBytes, sha256 }, signal)
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
