import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import {
  type ArchiveLocation,
  archiveFormat,
  backendOf,
  checksumOf,
  configOfVersion,
  locationOf,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { ArchiveError, inspectModule, inspectProvider } from '../../archives/archive/archive.ts'
import { docsProblems, openModuleDocs, plainText, problemText } from '../../archives/docs/docs.ts'
import { sha256Of } from '../../archives/spool/spool.ts'
import { type ArchiveStore, openArchiveStore } from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { about, type LintFinding, type PlacedObject } from './finding.ts'
import type { ManifestParents, PlacedParent } from './parents.ts'

/** Archives of the filesystem, read as the server reads them: an archive that it would not serve does not exist. */
export interface ArchiveMount {
  readonly mountPath: string
  readonly store: ArchiveStore
}

export function openMount(mountPath: string): ArchiveMount {
  return { mountPath, store: openArchiveStore({ filesystemMountPath: mountPath }) }
}

/**
 * Checks that the archive of a Version on the filesystem exists, has the Version's digest, is of use to CLIs, and that each
 * file of a module can be parsed.
 */
export async function* inArchive(
  version: PlacedObject<Version>,
  parents: ManifestParents,
  { mountPath, store }: ArchiveMount,
  { partial }: { readonly partial: boolean },
): AsyncGenerator<LintFinding, void> {
  const parent = parents.of(version)
  const own = configOfVersion(version.resource)
  // A Version without parent is not served, which is a finding already, unless its parent may be elsewhere.
  const isKnown = partial && own?.name !== undefined && own.storageConfig !== undefined
  if (parent === undefined && !isKnown) return
  const location = locationOf(version.resource, parent?.resource)
  if (location === undefined || backendOf(location.storage) !== 'filesystem') return
  const { storage, configName, fileName } = location
  const fileField = { path: ['spec', 'fileName'] }
  let path = join(storage.fileSystem?.directoryPath ?? '', configName, fileName)
  let digest: string
  try {
    const { driver, object } = store.for(storage, configName)
    path = join(mountPath, object(fileName))
    digest = await sha256Of((await driver.open(object(fileName))).body)
  } catch (error) {
    yield about(version, 'no-archive', problemOf(error, path), fileField)
    return
  }
  const wanted = checksumOf(version.resource)
  if (wanted !== undefined && sha256Hex(wanted) !== digest) {
    yield about(
      version,
      'wrong-digest',
      `the archive ${path} has the SHA-256 ${digest}, not ${wanted}: put the right archive there, or publish it as a new version`,
      fileField,
    )
    return
  }
  const problem = await unusable(version.resource, path, location, parent)
  if (problem !== undefined) {
    const { message, ...more } = problem
    yield about(version, 'bad-archive', `the archive ${path}: ${message}`, {
      ...fileField,
      ...more,
    })
  }
  if (version.resource.spec.type === 'Provider' || problem?.level === 'error') return
  for (const text of await unparsed(path)) {
    yield about(version, 'bad-module', `the archive ${path}: ${text}`, fileField)
  }
}

/** Names what cannot be parsed, in the words of `depot docs`. The server serves such a module, too. */
async function unparsed(path: string): Promise<string[]> {
  try {
    return docsProblems(await openModuleDocs(path)).map((each) => plainText(problemText(each)))
  } catch (error) {
    if (error instanceof ArchiveError) return []
    throw error
  }
}

/** Reads an archive as import and sync do before they store one. The server serves any bytes with the right digest. */
async function unusable(
  { spec }: Version,
  file: string,
  { configName, fileName }: ArchiveLocation,
  parent: PlacedParent | undefined,
): Promise<Pick<LintFinding, 'message' | 'reason' | 'level'> | undefined> {
  try {
    if (spec.type === 'Provider') {
      await inspectProvider({ file, type: configName })
      return undefined
    }
    const config =
      parent?.resource.kind === 'Module' ? parent.resource.spec.moduleConfig : undefined
    const format = archiveFormat(fileName, config?.fileFormat)
    const scratch = join(tmpdir(), `depot-lint-${randomUUID()}`)
    if (await inspectModule({ file, format, scratch })) return undefined
    const message =
      'only its directories below modules/ can be used: there is no *.tf file at its root'
    return { message, level: 'warning', reason: 'NoModuleAtRoot' }
  } catch (error) {
    // Limits are for archives that Depot fetches.
    if (!(error instanceof ArchiveError) || error.reason === 'ArchiveTooLarge') return undefined
    const level = error.reason === 'UnsafeArchive' ? 'warning' : 'error'
    return { message: error.message, reason: error.reason, level }
  }
}

/** Shows the file system's own error, which callers of the registry never see. */
function problemOf(error: unknown, path: string): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') {
    return `the archive ${path}: ${messageOf(cause)}`
  }
  const folder = dirname(path)
  if (existsSync(folder)) return `the archive ${path}: does not exist`
  return `the folder ${folder} does not exist: correct directoryPath, or --archives`
}
