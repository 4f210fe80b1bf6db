import { constants, type FileHandle, mkdir, open, readlink, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf, notFound, RegistryError, unavailable } from '../../../base/errors/errors.ts'
import { release } from '../../spool/spool.ts'

const { O_RDONLY, O_DIRECTORY } = constants
const onLinux = process.platform === 'linux'

/** The paths of open directories, for systems without /proc. */
const openedAt = new WeakMap<FileHandle, string>()

/** The real path of a mount. @throws RegistryError Unavailable */
export async function rootOf(mountPath: string): Promise<string> {
  try {
    return await realpath(mountPath)
  } catch (error) {
    throw unavailable('the storage of the archives is not mounted', error)
  }
}

export const isInside = (root: string, path: string): boolean =>
  path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)

/**
 * The real path of an open file or directory, because a directory above it may have been replaced since its name was checked.
 * Systems other than Linux cannot tell reliably. Depot is developed there, but not run.
 */
export async function realPathOf(opened: FileHandle, path: string): Promise<string> {
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
