import semver from 'semver'
import {
  configOfParent,
  configOfVersion,
  fileNameOf,
  normalizeVersion,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { Finding } from './finding.ts'
import { about, groupBy, type Placed, placeOf } from './object.ts'
import type { Parents, PlacedParent } from './parents.ts'

export interface VersionOptions {
  /** Whether objects that these refer to may be somewhere else: what is missing is a warning then. */
  readonly partial: boolean
}

/** What is wrong with a Version, seen beside its module or provider. */
export function* inVersion(
  version: Placed<Version>,
  parents: Parents,
  { partial }: VersionOptions,
): Generator<Finding> {
  const { spec } = version.resource
  const missing = { level: partial ? ('warning' as const) : ('error' as const) }
  if (semver.parse(normalizeVersion(spec.version)) === null) {
    yield about(
      version,
      'not-semver',
      `${JSON.stringify(spec.version)} is not a semantic version, so no client gets it: write three numbers, such as 1.2.0`,
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
    const message = `neither the Version nor its ${spec.type} has a storageConfig: write where the archive is`
    yield about(version, 'no-storage', message, missing)
  }
}

function withoutParent({ resource: { spec, metadata } }: Placed<Version>): string {
  const field = spec.type === 'Module' ? 'moduleConfigRef' : 'providerConfigRef'
  const owner = metadata.ownerReferences.find(({ kind }) => kind === spec.type)
  const name =
    owner?.name ?? (spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef)?.name
  if (name === undefined) {
    return `belongs to no ${spec.type}: name it in spec.${field}.name, or in an owner reference`
  }
  return `there is no ${spec.type} ${metadata.namespace}/${name}: add it, or correct spec.${field}.name`
}

/** Versions that are one version of one parent and platform: only the first is served. */
export function* duplicateVersions(
  versions: readonly Placed<Version>[],
  parents: Parents,
): Generator<Finding> {
  const identityOf = (version: Placed<Version>): string | undefined => {
    const parent: PlacedParent | undefined = parents.of(version)
    const { spec } = version.resource
    const platform = [spec.operatingSystem, spec.architecture]
    return (
      parent &&
      [
        parent.key.namespace,
        parent.key.kind,
        parent.key.name,
        normalizeVersion(spec.version),
        ...platform,
      ].join(' ')
    )
  }
  for (const [first, ...others] of groupBy(versions, identityOf).values()) {
    for (const other of first === undefined ? [] : others) {
      yield about(
        other,
        'duplicate-version',
        `is the same version as ${placeOf(first as Placed)}, which is served: delete one of them`,
      )
    }
  }
}
