import semver from 'semver'
import {
  configOfParent,
  configOfVersion,
  fileNameOf,
  normalizeVersion,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { about, type LintFinding, type PlacedObject, placeOf, repeats } from './finding.ts'
import type { ManifestParents } from './parents.ts'

/**
 * Checks a Version together with its module or provider.
 *
 * @param partial whether other objects may be elsewhere: then a missing object is a warning
 */
export function* inVersion(
  version: PlacedObject<Version>,
  parents: ManifestParents,
  { partial }: { readonly partial: boolean },
): Generator<LintFinding> {
  const { spec } = version.resource
  const missing = { level: partial ? ('warning' as const) : ('error' as const) }
  if (semver.parse(normalizeVersion(spec.version)) === null) {
    yield about(
      version,
      'not-semver',
      `${JSON.stringify(spec.version)} is not a semantic version, so it is never served: write three numbers, such as 1.2.0`,
      { field: 'spec.version' },
    )
  }
  if (fileNameOf(version.resource) === undefined) {
    const message = 'is required to serve the archive: write its name, such as network-1.2.0.zip'
    yield about(version, 'no-file-name', message, { field: 'spec.fileName', ...missing })
  }
  const parent = parents.of(version)
  if (parent === undefined) yield about(version, 'no-parent', withoutParent(version), missing)
  const storage =
    configOfVersion(version.resource)?.storageConfig ??
    (parent && configOfParent(parent.resource).storageConfig)
  if (storage === undefined) {
    const message = `neither the Version nor its ${spec.type} has a storageConfig: add one that names the place of the archive`
    yield about(version, 'no-storage', message, missing)
  }
}

function withoutParent({ resource: { spec, metadata } }: PlacedObject<Version>): string {
  const field = spec.type === 'Module' ? 'moduleConfigRef' : 'providerConfigRef'
  const owner = metadata.ownerReferences.find(({ kind }) => kind === spec.type)
  const name =
    owner?.name ?? (spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef)?.name
  if (name === undefined) {
    return `has no ${spec.type}: name it in spec.${field}.name, or in an owner reference`
  }
  return `there is no ${spec.type} ${metadata.namespace}/${name}: add it, or correct spec.${field}.name`
}

/** Finds Versions with the same parent, version and platform: only the first is served. */
export function* duplicateVersions(
  versions: readonly PlacedObject<Version>[],
  parents: ManifestParents,
): Generator<LintFinding> {
  const identityOf = (version: PlacedObject<Version>): string | undefined => {
    const parent = parents.of(version)
    if (parent === undefined) return undefined
    const { namespace, kind, name } = parent.key
    const { version: text, operatingSystem, architecture } = version.resource.spec
    return [namespace, kind, name, normalizeVersion(text), operatingSystem, architecture].join(' ')
  }
  for (const [first, other] of repeats(versions, identityOf)) {
    const message = `is the same version as ${placeOf(first)}, which is served: delete one of them`
    yield about(other, 'duplicate-version', message)
  }
}
