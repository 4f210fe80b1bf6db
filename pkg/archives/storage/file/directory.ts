import { constants, type FileHandle, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import { notFound, unavailable } from '../../../base/errors/errors.ts'
import { release } from '../../spool/spool.ts'

const { O_RDONLY, O_DIRECTORY } = constants
const onLinux = process.platform === 'linux'

/** Where the handles of open directories were opened, for systems that cannot tell. */
const openedAt = new WeakMap<FileHandle, string>()

/**
 * Opens a directory below a mount, one step after the other: links may lead elsewhere inside of the mount and nowhere
 * else, whenever they are moved.
 *
 * @param options.create makes the directories that are missing, and makes them durable
 * @returns to be closed by the caller
 */
export async function openDirectory(
  mountPath: string,
  segments: readonly string[],
  { create }: { readonly create: boolean },
): Promise<FileHandle> {
  const root = await realpath(mountPath).catch((error: unknown) => {
    throw unavailable('the storage of the archives is not mounted', error)
  })
  let directory = await openAt(root)
  for (const segment of segments) {
    const parent = directory
    try {
      const path = pathIn(parent, segment)
      if (create && (await made(path))) await parent.sync()
      directory = await openAt(path)
    } finally {
      release(parent)
    }
    const place = await placeOf(directory)
    if (place !== root && !place.startsWith(root === '/' ? '/' : `${root}/`)) {
      release(directory)
      throw notFound('the directory of the archive is outside of the mounted storage')
    }
  }
  return directory
}

/** The path of a name in an open directory, wherever that directory has been moved to. */
export function pathIn(directory: FileHandle, name: string): string {
  return join(onLinux ? `/proc/self/fd/${directory.fd}` : (openedAt.get(directory) ?? ''), name)
}

async function openAt(path: string): Promise<FileHandle> {
  const directory = await open(path, O_RDONLY | O_DIRECTORY)
  openedAt.set(directory, path)
  return directory
}

const placeOf = (directory: FileHandle): Promise<string> =>
  onLinux ? readlink(`/proc/self/fd/${directory.fd}`) : realpath(openedAt.get(directory) ?? '')

async function made(path: string): Promise<boolean> {
  try {
    await mkdir(path, 0o755)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}
