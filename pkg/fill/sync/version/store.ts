import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { ArchivePlace, LocalFile } from '../../../archives/storage/storage.ts'
import type { Context } from '../context.ts'
import { Failure } from '../failure.ts'
import type { Candidate } from './candidate.ts'

/** Puts an archive and its documents into storage, and reads back what is there. @throws Failure, RegistryError */
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
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      await storeFile(
        place,
        fileName,
        { path: reserved.path, sizeBytes: bytes.length, sha256 },
        signal,
      )
    } finally {
      await reserved.remove()
    }
  }
  const { file, fileName, sizeBytes, sha256 } = candidate
  await storeFile(place, fileName, { path: file.path, sizeBytes, sha256 }, signal)
}

/** A name holds a digest, so that what is there already is the same, or was altered. */
async function storeFile(
  place: ArchivePlace,
  fileName: string,
  file: LocalFile,
  signal: AbortSignal,
): Promise<void> {
  const { driver } = place
  const name = place.object(fileName)
  const outcome = await driver.put(name, file, { signal })
  if (await driver.verify(name, file, { signal })) return
  if (outcome === 'exists') {
    await driver.remove(name)
    await driver.put(name, file, { signal })
    if (await driver.verify(name, file, { signal })) return
  }
  throw new Failure('StorageFailed', 'what was stored is not what was sent: storage altered it')
}
