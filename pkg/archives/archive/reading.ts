import { open } from 'node:fs/promises'
import type { ArchiveEntry, ArchiveReading } from './entry.ts'
import { formatOf } from './format.ts'
import { checkPacked } from './size-checks.ts'
import { readTar } from './tar-reading.ts'
import { readZip } from './zip-reading.ts'

/**
 * The entries of an archive of any format.
 *
 * @throws ArchiveError also from the iteration
 */
export async function readArchive(reading: ArchiveReading): Promise<AsyncGenerator<ArchiveEntry>> {
  const format = await formatOfFile(reading)
  return format === 'zip' ? readZip(reading) : readTar(reading, format)
}

export async function formatOfFile({
  file,
  limits,
}: ArchiveReading): Promise<'zip' | 'tar' | 'gzip'> {
  const handle = await open(file, 'r')
  try {
    checkPacked((await handle.stat()).size, limits)
    return await formatOf(handle)
  } finally {
    await handle.close()
  }
}
