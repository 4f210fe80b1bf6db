import semver from 'semver'
import type { Objects, StoredObject, StoredRef } from '../../../records/store/store.ts'
import { versionOfStored } from '../parent/desired.ts'
import { publishedParents } from '../parent/published.ts'
import type { ParentStatus } from '../parent/report.ts'
import { versionStatus } from './work.ts'

type Known = Pick<Objects, 'isFolder' | 'get' | 'list'>

/**
 * Tells whether the interface of a Version belongs into its ConfigMap: it is the latest of its Module, or newer, until the
 * Module says so. A folder is kept in git, and readers of a folder can read the documentation next to the archive.
 */
export function wantsInterface(objects: Known, version: StoredObject): boolean {
  if (objects.isFolder) return false
  const number = versionOfStored(version)
  return modulesOf(objects, version).some((module) => {
    const { latestVersion } = moduleStatus(module)
    return latestVersion === undefined || number === latestVersion || isNewer(number, latestVersion)
  })
}

/** The Versions to which a new latest version of their Module gives an interface, or from which it takes theirs. */
export function* interfacesAffected(
  objects: Known,
  before: StoredObject | undefined,
  after: StoredObject | undefined,
): Generator<StoredRef> {
  if (objects.isFolder || after === undefined) return
  const { latestVersion, moduleVersionRefs = {} } = moduleStatus(after)
  if (before !== undefined && moduleStatus(before).latestVersion === latestVersion) return
  const { namespace } = after.metadata
  for (const [number, { name = '' }] of Object.entries(moduleVersionRefs)) {
    const version = objects.get('Version', namespace, name)
    if (version === undefined) continue
    const isWritten = versionStatus(version).interfaceConfigMapRef !== undefined
    if (isWritten !== (number === latestVersion)) yield { kind: 'Version', namespace, name }
  }
}

/** A prerelease is the latest only if there is nothing else. */
function isNewer(version: string, latest: string): boolean {
  const [a, b] = [semver.parse(version), semver.parse(latest)]
  if (a === null || b === null) return false
  return a.compare(b) > 0 && (a.prerelease.length === 0 || b.prerelease.length > 0)
}

function modulesOf(objects: Known, version: StoredObject): StoredObject[] {
  const { namespace, ownerReferences } = version.metadata
  return [...ownerReferences, ...publishedParents(objects, version)]
    .filter(({ kind }) => kind === 'Module')
    .flatMap(({ name }) => objects.get('Module', namespace, name) ?? [])
}

const moduleStatus = ({ status }: StoredObject): ParentStatus => status ?? {}
