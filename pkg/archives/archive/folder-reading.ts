import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import { ArchiveError, quoted } from './archive-error.ts'
import type { ArchiveEntry, ArchiveReading } from './entry.ts'
import { entryPath } from './entry-path.ts'
import { checkEntries, checkUnpacked } from './limits.ts'
import { isLeftOut } from './module-tree.ts'

/**
 * Lists the entries of a folder, as an archive of it would have them. Folders that never belong to a module are skipped: a
 * `.terraform` may contain gigabytes.
 *
 * @throws ArchiveError from the iteration
 */
export async function* readFolder({
  file: folder,
  limits,
  signal,
}: ArchiveReading): AsyncGenerator<ArchiveEntry> {
  let count = 0
  let sizeBytes = 0
  const pending = ['']
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const name of await readdir(join(folder, below))) {
      signal?.throwIfAborted()
      checkEntries(++count, limits)
      const path = entryPath(below === '' ? name : `${below}/${name}`, limits.pathBytes)
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory() && !isLeftOut(path)) pending.push(path)
      if (stats.isFile() && !isLeftOut(path)) sizeBytes += stats.size
      checkUnpacked(sizeBytes, sizeBytes, limits)
      yield await entryOf(folder, path, stats, signal)
    }
  }
}

async function entryOf(
  folder: string,
  path: string,
  stats: Stats,
  signal: AbortSignal | undefined,
): Promise<ArchiveEntry> {
  const at = join(folder, path)
  const executable = (stats.mode & constants.S_IXUSR) !== 0
  if (stats.isDirectory()) return { path, kind: 'directory', executable, content: nothing() }
  if (stats.isSymbolicLink()) {
    const target = await readlink(at)
    return { path, kind: 'symlink', executable, target, content: nothing() }
  }
  if (stats.isFile()) return { path, kind: 'file', executable, content: contentOf(at, signal) }
  throw new ArchiveError('UnsafeArchive', `${quoted(path)} is not a regular file: leave it out`)
}

/** The file is opened when it is read, not when it is listed. A link that replaced it meanwhile is not followed. */
async function* contentOf(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  for await (const chunk of file.createReadStream({ signal })) yield chunk as Buffer
}

async function* nothing(): AsyncGenerator<Buffer> {}
