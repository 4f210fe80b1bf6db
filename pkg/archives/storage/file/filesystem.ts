import type { BigIntStats } from 'node:fs'
import { constants, type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { notFound, unavailable } from '../../../base/errors/errors.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer, release } from '../../spool/spool.ts'
import type { Driver, ObjectInfo, OpenObject, WritableDriver } from '../driver.ts'
import { checkObjectName } from '../object-name.ts'
import { satisfiable } from '../satisfiable.ts'
import { createVerifying } from '../verifying.ts'
import { FileSource } from './file-body.ts'
import { fileError } from './file-error.ts'
import { createFileWriting } from './file-writing.ts'

const openDeadlineMs = 10_000
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * A mounted directory. Nothing outside of it is read, however its links point and whenever they are moved: a file counts
 * by where it really is once it is open. Only regular files are objects.
 *
 * @param options.mountPath absolute; may itself be a link
 */
export function createFilesystemDriver({ mountPath }: { mountPath: string }): WritableDriver {
  const reading = createFileReading(mountPath)
  return { ...reading, ...createFileWriting(mountPath), ...createVerifying(reading) }
}

function createFileReading(mountPath: string): Driver {
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
 * The directory of a StorageConfig, as the beginning of object names; empty for the mount itself.
 *
 * @param directoryPath relative to the mount, or absolute and inside it
 * @throws RegistryError NotFound where it is outside
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
  const root = await realpath(mountPath).catch((error: unknown) => {
    throw unavailable('the storage of the archives is not mounted', error)
  })
  const path = await resolving
  if (!isInside(root, path)) throw outsideError()
  // Neither a link that was just put there nor a pipe without a writer may take us elsewhere or hold us up.
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
  try {
    const stats = await file.stat({ bigint: true })
    if (!stats.isFile()) throw notFound('there is no such archive in storage: it is not a file')
    const place = await placeOf(file, stats, path)
    if (!isInside(root, place)) throw outsideError()
    return { file, stats, info: { ...infoOf(stats), object: relative(root, place) } }
  } catch (error) {
    release(file)
    throw error
  }
}

/**
 * Where an open file really is: a directory on the way may have been swapped after the name was checked. Elsewhere than
 * on Linux nothing tells for sure; Depot is developed there, but not run.
 */
async function placeOf(file: FileHandle, opened: BigIntStats, path: string): Promise<string> {
  if (process.platform === 'linux') return readlink(`/proc/self/fd/${file.fd}`)
  const place = await realpath(path)
  const { dev, ino } = await stat(place, { bigint: true })
  return dev === opened.dev && ino === opened.ino ? place : ''
}

const isInside = (root: string, path: string): boolean =>
  path.startsWith(root.endsWith('/') ? root : `${root}/`)

const outsideError = () =>
  notFound('there is no such archive in storage: it is outside of the mount')

export function infoOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): ObjectInfo {
  return {
    sizeBytes: Number(size),
    fingerprint: [dev, ino, size, mtimeNs, ctimeNs].join(':'),
    changedAtMs: Number(ctimeNs / 1_000_000n),
  }
}
