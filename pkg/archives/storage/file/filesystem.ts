import type { BigIntStats } from 'node:fs'
import { constants, type FileHandle, open, realpath } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { notFound } from '../../../base/errors/errors.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { noAnswer, release } from '../../spool/spool.ts'
import type { Driver, ObjectInfo, OpenObject, WritableDriver } from '../driver.ts'
import { checkObjectName } from '../object-name.ts'
import { satisfiable } from '../satisfiable.ts'
import { createVerifying } from '../verifying.ts'
import { FileSource } from './file-body.ts'
import { fileError } from './file-error.ts'
import { createFileWriting } from './file-writing.ts'
import { isInside, realPathOf, rootOf } from './mount.ts'

const openDeadlineMs = 10_000
const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants

/**
 * A mounted directory. Nothing outside of it is read, wherever links point and whenever they change: the real path of a file is
 * checked after it is open. Only regular files are objects.
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
 * The directory of a StorageConfig as a prefix of object names; empty for the mount itself.
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
  // A link that was created just now is not followed, and a pipe without a writer does not block.
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
