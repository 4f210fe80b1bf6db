import { createHash } from 'node:crypto'
import { join } from 'node:path'
import {
  backendOf,
  checksumOf,
  configOfVersion,
  locationOf,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchivePlace,
  type ArchiveStore,
  openArchiveStore,
} from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { Finding } from './finding.ts'
import { about, type Placed } from './object.ts'
import type { Parents } from './parents.ts'

/** Archives of the filesystem, read as the server reads them: what it would not serve is not there. */
export interface Mount {
  readonly mountPath: string
  readonly store: ArchiveStore
}

export function openMount(mountPath: string): Mount {
  return { mountPath, store: openArchiveStore({ filesystemMountPath: mountPath }) }
}

/** Whether the archive of a Version on the filesystem is there, and is the one that its digest says. */
export async function inArchive(
  version: Placed<Version>,
  parents: Parents,
  { mountPath, store }: Mount,
  { partial }: { readonly partial: boolean },
): Promise<Finding | undefined> {
  const parent = parents.of(version)
  const own = configOfVersion(version.resource)
  // The registry serves none of it, and that is a finding already; unless its parent is elsewhere, and does not matter.
  const isKnown = partial && own?.name !== undefined && own.storageConfig !== undefined
  if (parent === undefined && !isKnown) return undefined
  const location = locationOf(version.resource, parent?.resource)
  if (location === undefined || backendOf(location.storage) !== 'filesystem') return undefined
  const { storage, configName, fileName } = location
  let path = join(storage.fileSystem?.directoryPath ?? '', configName, fileName)
  let digest: string
  try {
    const { driver, object } = store.for(storage, configName)
    path = join(mountPath, object(fileName))
    digest = await digestOf(driver, object(fileName))
  } catch (error) {
    return about(version, 'no-archive', `the archive ${path}: ${problemOf(error)}`)
  }
  const wanted = checksumOf(version.resource)
  if (wanted === undefined || sha256Hex(wanted) === digest) return undefined
  return about(
    version,
    'wrong-digest',
    `the archive ${path} has the SHA-256 ${digest}, not ${wanted}: put the right archive there, or publish it as a new version`,
  )
}

/** In lower-case hexadecimal. @throws RegistryError as `open` of a driver, and as its body */
async function digestOf(driver: ArchivePlace['driver'], object: string): Promise<string> {
  const { body } = await driver.open(object)
  try {
    const hash = createHash('sha256')
    for (let chunk = await body.read(); chunk !== undefined; chunk = await body.read()) {
      hash.update(chunk)
    }
    return hash.digest('hex')
  } finally {
    body.close()
  }
}

/** What the file system said of it, where it did: callers of the registry are told less. */
function problemOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'is not there' : messageOf(cause)
}
