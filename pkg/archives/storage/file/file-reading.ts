import type { BigIntStats } from 'node:fs'
import { constants, type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { codeOf, notFound, RegistryError, unavailable } from '../../../base/errors/errors.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { type ByteSource, chunkBuffers, noAnswer, release } from '../../spool/spool.ts'
import {
  type ByteRange,
  checkObjectName,
  type Driver,
  type ObjectInfo,
  type OpenObject,
  satisfiable,
} from '../driver.ts'

const openDeadlineMs = 10_000
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

export function createFileReading(mountPath: string): Driver {
  return {
    async stat(object) {
      const { file, info } = await openInside(mountPath, object)
      release(file)
      return info
    },

    async open(object, range) {
      const { file, stats, info } = await openInside(mountPath, object)
      try {
        const body = await FileSource.open(file, stats, satisfiable(range, info.sizeBytes))
        return { info, body } satisfies OpenObject
      } catch (error) {
        release(file)
        throw fileError(error)
      }
    },
  }
}

/**
 * Converts the directory of a StorageConfig to a prefix of object names; empty for the mount itself.
 *
 * @param directoryPath relative to the mount, or absolute and inside it
 * @throws RegistryError NotFound if it is outside
 */
export function directoryInMount(mountPath: string, directoryPath: string): string {
  const directory = partsOf(directoryPath)
  const mount = directoryPath.startsWith('/') ? partsOf(resolve(mountPath)) : []
  if (directory.includes('..') || mount.some((part, depth) => part !== directory[depth])) {
    throw notFound('the directory of the archive is outside of the mounted storage')
  }
  return directory.slice(mount.length).join('/')
}

const partsOf = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && part !== '.')

interface OpenFile {
  readonly file: FileHandle
  readonly stats: BigIntStats
  readonly info: ObjectInfo
}

function openInside(mountPath: string, object: string): Promise<OpenFile> {
  checkObjectName(object)
  const opening = openChecked(mountPath, object).catch((error: unknown) => {
    throw fileError(error)
  })
  return withDeadline(opening, openDeadlineMs, noAnswer, ({ file }) => release(file))
}

async function openChecked(mountPath: string, object: string): Promise<OpenFile> {
  const resolving = realpath(join(mountPath, object))
  resolving.catch(() => {})
  const root = await rootOf(mountPath)
  const path = await resolving
  if (!isInside(root, path)) throw outsideError()
  // A link that was created meanwhile is not followed, and a pipe without a writer does not block.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) throw notFound('there is no such archive in storage: it is not a file')
    const place = await realPathOf(file, path)
    if (!isInside(root, place)) throw outsideError()
    return { file, stats, info: { ...infoOf(stats), object: relative(root, place) } }
  } catch (error) {
    release(file)
    throw error
  }
}

const outsideError = () =>
  notFound('there is no such archive in storage: it is outside of the mount')

export function infoOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): ObjectInfo {
  return {
    sizeBytes: Number(size),
    fingerprint: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
    changedAtMs: Number(ctimeNs / 1_000_000n),
  }
}

const readDeadlineMs = 30_000

/**
 * Part of an open file. It closes the file after the last byte, on an error and on `close()`. It returns its buffers only on
 * `close()`.
 *
 * It gives the last chunk only if the file has not changed since it was opened.
 */
class FileSource implements ByteSource {
  readonly #file: FileHandle
  readonly #opened: BigIntStats
  readonly #end: number
  #position: number
  #first: Uint8Array | undefined
  /** Two buffers, used alternately. */
  readonly #buffers: Buffer[] = []
  #turn = 0
  #reading: Promise<unknown> | undefined
  #closed = false

  private constructor(file: FileHandle, opened: BigIntStats, { start, end }: ByteRange) {
    this.#file = file
    this.#opened = opened
    this.#position = start
    this.#end = end
  }

  /**
   * Reads the first chunk. If that is the whole archive, the file is closed at once.
   *
   * @throws RegistryError
   */
  static async open(file: FileHandle, opened: BigIntStats, range: ByteRange): Promise<FileSource> {
    const source = new FileSource(file, opened, range)
    try {
      source.#first = await source.#next()
      return source
    } catch (error) {
      source.close()
      throw error
    }
  }

  async read(): Promise<Uint8Array | undefined> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#next()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    release(this.#file)
    const recycle = () => {
      for (const buffer of this.#buffers.splice(0)) chunkBuffers.giveBack(buffer)
    }
    // A read that is in progress still writes into its buffer.
    if (this.#reading === undefined) recycle()
    else this.#reading.then(recycle, recycle)
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#closed || this.#position > this.#end) return undefined
    const wantedBytes = this.#end + 1 - this.#position
    this.#buffers[this.#turn] ??= chunkBuffers.take(wantedBytes)
    const buffer = this.#buffers[this.#turn] as Buffer
    this.#turn ^= 1
    const reading = this.#fill(buffer, Math.min(buffer.length, wantedBytes))
    this.#reading = reading
    try {
      const bytesRead = await withDeadline(reading, readDeadlineMs, noAnswer)
      this.#reading = undefined
      if (bytesRead > 0) return buffer.subarray(0, bytesRead)
      release(this.#file)
      return undefined
    } catch (error) {
      release(this.#file)
      throw fileError(error)
    }
  }

  async #fill(buffer: Buffer, length: number): Promise<number> {
    const { bytesRead } = await this.#file.read(buffer, 0, length, this.#position)
    this.#position += bytesRead
    if (this.#position > this.#end) {
      checkUnchanged(this.#opened, await this.#file.stat({ bigint: true }))
      release(this.#file)
    }
    return bytesRead
  }
}

/** The number of links may change: a file that is deleted or replaced while it is read is still the same file. */
function checkUnchanged(opened: BigIntStats, now: BigIntStats): void {
  const sameContent = now.size === opened.size && now.mtimeNs === opened.mtimeNs
  const sameFile = now.ctimeNs === opened.ctimeNs || now.nlink !== opened.nlink
  if (!sameContent || !sameFile) throw unavailable('the archive changed while it was read')
}

const onLinux = process.platform === 'linux'

/** The paths of open directories, for systems without /proc. */
const openedAt = new WeakMap<FileHandle, string>()

/** The real path of a mount. @throws RegistryError Unavailable */
async function rootOf(mountPath: string): Promise<string> {
  try {
    return await realpath(mountPath)
  } catch (error) {
    throw unavailable('the storage of the archives is not mounted', error)
  }
}

const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)

/**
 * The real path of an open file or directory, because a directory above it may have been replaced since its name was checked.
 * Systems other than Linux cannot tell reliably. Depot is developed there, but not run.
 */
async function realPathOf(opened: FileHandle, path: string): Promise<string> {
  if (onLinux) return readlink(`/proc/self/fd/${opened.fd}`)
  const real = await realpath(path)
  const [found, own] = await Promise.all([
    stat(real, { bigint: true }),
    opened.stat({ bigint: true }),
  ])
  return found.dev === own.dev && found.ino === own.ino ? real : ''
}

/**
 * Opens a directory below a mount, one segment after the other. Links may lead elsewhere inside the mount, but never outside,
 * even if they change meanwhile.
 *
 * @param options.create creates missing directories and makes them durable
 * @returns a handle that the caller has to close
 */
export async function openDirectory(
  mountPath: string,
  segments: readonly string[],
  { create }: { readonly create: boolean },
): Promise<FileHandle> {
  const root = await rootOf(mountPath)
  let directory = await openAt(root)
  for (const segment of segments) {
    const parent = directory
    const path = pathIn(parent, segment)
    try {
      if (create && (await ensureDirectory(path))) await parent.sync()
      directory = await openAt(path)
    } finally {
      release(parent)
    }
    if (!isInside(root, await realPathOf(directory, path))) {
      release(directory)
      throw notFound('the directory of the archive is outside of the mounted storage')
    }
  }
  return directory
}

/** The path of a name in an open directory, even after that directory was moved. */
export function pathIn(directory: FileHandle, name: string): string {
  return join(onLinux ? `/proc/self/fd/${directory.fd}` : (openedAt.get(directory) ?? ''), name)
}

async function openAt(path: string): Promise<FileHandle> {
  const directory = await open(path, O_RDONLY | O_DIRECTORY)
  openedAt.set(directory, path)
  return directory
}

/** @returns whether the directory is new */
async function ensureDirectory(path: string): Promise<boolean> {
  try {
    await mkdir(path, 0o755)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

const absent = ['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EISDIR', 'ENXIO']

/** Converts an error for readers of an archive. */
export function fileError(thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const code = codeOf(thrown)
  if (absent.includes(code)) return notFound('there is no such archive in storage', thrown)
  if (code === 'EACCES' || code === 'EPERM') {
    return unavailable('the server is not allowed to read the archive', thrown)
  }
  return unavailable('the archive could not be read', thrown)
}

/** Converts an error for writers of an archive. */
export function writeError(thrown: unknown): RegistryError {
  if (thrown instanceof RegistryError) return thrown
  const code = codeOf(thrown)
  if (code === 'ENOSPC' || code === 'EDQUOT') {
    return unavailable('the archive storage is full', thrown)
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return unavailable('writing to the archive storage is not allowed: check the mount', thrown)
  }
  return unavailable('the archive could not be stored', thrown)
}
