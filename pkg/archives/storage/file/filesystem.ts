import { randomUUID } from 'node:crypto'
import type { Stats } from 'node:fs'
import {
  constants,
  type FileHandle,
  link,
  lstat,
  open,
  opendir,
  readdir,
  rename,
  unlink,
} from 'node:fs/promises'
import { codeOf, notFound, unavailable } from '../../../base/errors/errors.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer, release } from '../../spool/spool.ts'
import {
  checkObjectName,
  createVerifying,
  type ListedObject,
  type LocalFile,
  type WritableDriver,
} from '../driver.ts'
import { createFileReading, fileError, openDirectory, pathIn, writeError } from './file-reading.ts'

const stepDeadlineMs = 30_000
const chunkBytes = 1024 * 1024
const { O_RDONLY, O_NOFOLLOW, O_CREAT, O_EXCL, O_WRONLY } = constants

/** Errors of file systems without hard links, such as shares of Windows and Azure Files. */
const withoutLinks: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const inTime = <T>(work: Promise<T>, late?: (value: T) => void): Promise<T> =>
  withDeadline(work, stepDeadlineMs, noAnswer, late)

/**
 * A mounted directory. Nothing outside of it is read, even if links lead there or change: the real path of a file is checked
 * after it is open. Only regular files are objects.
 *
 * @param options.mountPath absolute; may itself be a link
 */
export function createFilesystemDriver({ mountPath }: { mountPath: string }): WritableDriver {
  const reading = createFileReading(mountPath)
  return { ...reading, ...createFileWriting(mountPath), ...createVerifying(reading) }
}

/**
 * Writes to a mounted directory: fills a temporary file in the directory of the object, makes it durable, and renames it
 * without ever replacing another file.
 */
function createFileWriting(mountPath: string): Pick<WritableDriver, 'put' | 'remove' | 'list'> {
  return {
    async put(object, file, { signal } = {}) {
      const { segments, name } = partsOf(object)
      try {
        signal?.throwIfAborted()
        const opening = openDirectory(mountPath, segments, { create: true })
        const directory = await inTime(opening, release)
        try {
          if (await exists(pathIn(directory, name))) return 'exists'
          await inTime(removeAbandonedIn(directory))
          return await store(directory, name, file, signal)
        } finally {
          release(directory)
        }
      } catch (error) {
        signal?.throwIfAborted()
        throw writeError(error)
      }
    },

    async remove(object) {
      const { segments, name } = partsOf(object)
      try {
        const directory = await inTime(
          openDirectory(mountPath, segments, { create: false }),
          release,
        )
        try {
          await inTime(unlink(pathIn(directory, name)))
          await inTime(directory.sync())
        } finally {
          release(directory)
        }
      } catch (error) {
        if (!isAbsent(error)) throw writeError(error)
      }
    },

    list: (prefix) => listFiles(mountPath, prefix),
  }
}

async function store(
  directory: FileHandle,
  name: string,
  source: LocalFile,
  signal: AbortSignal | undefined,
): Promise<'created' | 'exists'> {
  const temporary = pathIn(directory, `.depot-${randomUUID()}.part`)
  try {
    const flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW
    const target = await inTime(open(temporary, flags, 0o644), release)
    try {
      await copy(source, target, signal)
      await inTime(target.sync())
    } finally {
      await target.close()
    }
    const stored = await inTime(giveName(temporary, pathIn(directory, name)))
    await inTime(directory.sync())
    return stored
  } finally {
    await unlink(temporary).catch(() => undefined)
  }
}

async function copy(source: LocalFile, target: FileHandle, signal: AbortSignal | undefined) {
  const from = await open(source.path, O_RDONLY)
  try {
    const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, source.sizeBytes + 1))
    let copiedBytes = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await inTime(from.read(buffer, 0, buffer.length, copiedBytes))
      if (bytesRead === 0) break
      for (let written = 0; written < bytesRead; ) {
        const position = copiedBytes + written
        const writing = target.write(buffer, written, bytesRead - written, position)
        written += (await inTime(writing)).bytesWritten
      }
      copiedBytes += bytesRead
    }
    if (copiedBytes !== source.sizeBytes)
      throw unavailable('the archive changed while it was stored')
  } finally {
    release(from)
  }
}

async function giveName(temporary: string, path: string): Promise<'created' | 'exists'> {
  try {
    await link(temporary, path)
    return 'created'
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') return 'exists'
    if (!withoutLinks.has(code)) throw error
  }
  // A rename may replace the file of another writer, which has the same digest in its name.
  if (await exists(path)) return 'exists'
  await rename(temporary, path)
  return 'created'
}

async function removeAbandonedIn(directory: FileHandle): Promise<void> {
  const names = await readdir(pathIn(directory, '.'))
  for (const name of names.filter((entry) => temporaryPattern.test(entry))) {
    const path = pathIn(directory, name)
    const stats = await lstat(path).catch(() => undefined)
    if (stats) await removeAbandoned(path, stats)
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await inTime(lstat(path))
    return true
  } catch (error) {
    if (isAbsent(error)) return false
    throw error
  }
}

function partsOf(object: string): { segments: string[]; name: string } {
  const segments = checkObjectName(object).split('/')
  const name = segments.pop() ?? ''
  if (temporaryPattern.test(name))
    throw notFound('an archive cannot have the name of a temporary file')
  return { segments, name }
}

const isAbsent = (error: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(error))

/** The name of a file that is being written. No archive has such a name. */
const temporaryPattern = /^\.depot-[0-9a-f-]{36}\.part$/

const abandonedAfterMs = 86_400_000

/** Removes the temporary file of a process that was killed while it wrote. */
async function removeAbandoned(path: string, { mtimeMs }: Pick<Stats, 'mtimeMs'>): Promise<void> {
  if (Date.now() - mtimeMs > abandonedAfterMs) await unlink(path).catch(() => undefined)
}

/**
 * Lists regular files below a directory of the mount. Links are not followed, because their targets are listed under their own
 * names. Abandoned temporary files are removed, because nothing may ever be written to their directory again.
 */
async function* listFiles(mountPath: string, prefix: string): AsyncGenerator<ListedObject> {
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
