import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { checksumOf, locationOf, sha256Hex, type Version } from '../apis/v1alpha1/v1alpha1.ts'
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
  // The registry serves none of it: that it has no parent is a finding already.
  if (parent === undefined) return undefined
  const location = locationOf(version.resource, parent.resource)
  const directory = location?.storage.fileSystem?.directoryPath
  if (location === undefined || directory === undefined) return undefined
  const path = join(mountPath, directory, location.configName, location.fileName)
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
