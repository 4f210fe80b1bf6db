import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  checksumOf,
  configOfParent,
  configOfVersion,
  fileNameOf,
  sha256Hex,
  type Version,
} from '../apis/v1alpha1/v1alpha1.ts'
import { messageOf } from '../errors/errors.ts'
import type { Finding } from './finding.ts'
import { about, type Placed } from './object.ts'
import type { Parents } from './parents.ts'

/** Whether the archive of a Version on the filesystem is there, and is the one that its digest says. */
export async function inArchive(
  version: Placed<Version>,
  parents: Parents,
  mountPath: string,
): Promise<Finding | undefined> {
  const parent = parents.of(version)
  const own = configOfVersion(version.resource)
  const inherited = parent && configOfParent(parent.resource)
  const directory = (own?.storageConfig ?? inherited?.storageConfig)?.fileSystem?.directoryPath
  const name = inherited?.name ?? own?.name ?? parent?.key.name
  const fileName = fileNameOf(version.resource)
  if (directory === undefined || name === undefined || fileName === undefined) return undefined
  const path = join(mountPath, directory, name, fileName)
  const hash = createHash('sha256')
  try {
    await pipeline(createReadStream(path), hash)
  } catch (error) {
    const found =
      (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : messageOf(error)
    return about(version, 'no-archive', `the archive ${path}: ${found}`)
  }
  const digest = hash.digest('hex')
  const wanted = checksumOf(version.resource)
  if (wanted === undefined || sha256Hex(wanted) === digest) return undefined
  return about(
    version,
    'wrong-digest',
    `the archive ${path} has the SHA-256 ${digest}, not ${wanted}: put the right archive there, or publish it as a new version`,
  )
}
