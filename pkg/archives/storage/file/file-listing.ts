import { lstat, opendir } from 'node:fs/promises'
import { release } from '../../spool/spool.ts'
import type { ListedObject } from '../driver.ts'
import { openDirectory, pathIn } from './directory.ts'
import { fileError } from './file-error.ts'
import { temporaryPattern } from './temporary.ts'

/** Regular files below a directory of the mount. Links are not followed: what they lead to has a name of its own. */
export async function* listFiles(mountPath: string, prefix: string): AsyncGenerator<ListedObject> {
  const waiting = [prefix.split('/').filter((part) => part !== '')]
  for (let segments = waiting.pop(); segments; segments = waiting.pop()) {
    for (const entry of await entriesOf(mountPath, segments)) {
      const path = [...segments, entry.name]
      if (entry.directory) waiting.push(path)
      else
        yield { object: path.join('/'), sizeBytes: entry.sizeBytes, changedAtMs: entry.changedAtMs }
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
        if (!stats?.isDirectory() && (!stats?.isFile() || temporaryPattern.test(name))) continue
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
