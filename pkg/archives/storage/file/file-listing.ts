import type { Stats } from 'node:fs'
import { lstat, opendir, unlink } from 'node:fs/promises'
import { release } from '../../spool/spool.ts'
import type { ListedObject } from '../driver.ts'
import { fileError } from './file-error.ts'
import { openDirectory, pathIn } from './mount.ts'

/** The name of a file that is being written. No archive has such a name. */
export const temporaryPattern = /^\.depot-[0-9a-f-]{36}\.part$/

const abandonedAfterMs = 86_400_000

/** Removes the temporary file of a process that was killed while it wrote. */
export async function removeAbandoned(
  path: string,
  { mtimeMs }: Pick<Stats, 'mtimeMs'>,
): Promise<void> {
  if (Date.now() - mtimeMs > abandonedAfterMs) await unlink(path).catch(() => undefined)
}

/**
 * Lists regular files below a directory of the mount. Links are not followed, because their targets are listed under their own
 * names. Abandoned temporary files are removed, because nothing may ever be written to their directory again.
 */
export async function* listFiles(mountPath: string, prefix: string): AsyncGenerator<ListedObject> {
  const waiting = [prefix.split('/').filter((part) => part !== '')]
  for (let segments = waiting.pop(); segments; segments = waiting.pop()) {
    for (const entry of await entriesOf(mountPath, segments)) {
      const path = [...segments, entry.name]
      const { sizeBytes, changedAtMs } = entry
      if (entry.directory) waiting.push(path)
      else yield { object: path.join('/'), sizeBytes, changedAtMs }
    }
  }
}

async function entriesOf(mountPath: string, segments: readonly string[]) {
  try {
    const directory = await openDirectory(mountPath, segments, { create: false })
    try {
      const entries = []
      for await (const { name } of await opendir(pathIn(directory, '.'))) {
        const stats = await lstat(pathIn(directory, name)).catch(() => undefined)
        if (!stats?.isDirectory() && !stats?.isFile()) continue
        if (temporaryPattern.test(name) && stats.isFile()) {
          await removeAbandoned(pathIn(directory, name), stats)
          continue
        }
        entries.push({
          name,
          directory: stats.isDirectory(),
          sizeBytes: stats.size,
          changedAtMs: stats.mtimeMs,
        })
      }
      return entries
    } finally {
      release(directory)
    }
  } catch (thrown) {
    const error = fileError(thrown)
    if (error.reason === 'NotFound') return []
    throw error
  }
}
