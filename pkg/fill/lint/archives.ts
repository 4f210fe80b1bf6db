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
import { about, type LintFinding, type PlacedObject } from './finding.ts'
import type { ManifestParents } from './parents.ts'

/** Archives of the filesystem, read as the server reads them: an archive that it would not serve does not exist. */
export interface ArchiveMount {
  readonly mountPath: string
  readonly store: ArchiveStore
}

export function openMount(mountPath: string): ArchiveMount {
  return { mountPath, store: openArchiveStore({ filesystemMountPath: mountPath }) }
}

/** Checks that the archive of a Version on the filesystem exists and has the Version's digest. */
export async function inArchive(
  version: PlacedObject<Version>,
  parents: ManifestParents,
  { mountPath, store }: ArchiveMount,
  { partial }: { readonly partial: boolean },
): Promise<LintFinding | undefined> {
  const parent = parents.of(version)
  const own = configOfVersion(version.resource)
  // A Version without parent is not served, which is a finding already, unless its parent may be elsewhere.
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

/** @returns lower-case hexadecimal @throws RegistryError of the driver */
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

/** The file system's own error, which callers of the registry never see. */
function problemOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : messageOf(cause)
}
