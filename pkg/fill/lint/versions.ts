import semver from 'semver'
import {
  awaitedPlatforms,
  configOfParent,
  configOfVersion,
  configRefOf,
  fileNameOf,
  normalizeVersion,
  parentRefOf,
  takenTextOf,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { providerFileName } from '../../archives/archive/archive.ts'
import {
  about,
  type LintFinding,
  oncePerCause,
  type PlacedObject,
  placeOf,
  repeats,
} from './finding.ts'
import { configNameOf, type ManifestParents } from './parents.ts'

/** Other objects, which may be elsewhere: then a missing one is a warning. */
interface Surroundings {
  readonly parents: ManifestParents
  readonly partial: boolean
}

/** Checks a Version by itself. */
export function* inVersion(
  version: PlacedObject<Version>,
  { parents, partial }: Surroundings,
): Generator<LintFinding> {
  const { resource } = version
  const { spec } = resource
  if (semver.parse(normalizeVersion(spec.version)) === null) {
    yield about(
      version,
      'not-semver',
      `${JSON.stringify(spec.version)} is not a semantic version, so it is never served: write three numbers, such as 1.2.0`,
      { path: ['spec', 'version'] },
    )
  }
  const fileName = fileNameOf(resource)
  if (fileName === undefined) {
    const message = 'is required to serve the archive: write its name, such as network-1.2.0.zip'
    yield about(version, 'no-file-name', message, {
      path: ['spec', 'fileName'],
      ...missing(partial),
    })
    return
  }
  const named = spec.type === 'Provider' ? providerFileName(fileName) : undefined
  const other = named && differenceOf(version, named, parents)
  if (other === undefined) return
  const message = `${fileName} is the archive of ${other}: name the file of this version and platform, or correct the Version`
  yield about(version, 'other-archive', message, { path: ['spec', 'fileName'] })
}

/** Names the provider, version or platform of a file name, if its Version has another one. */
function differenceOf(
  version: PlacedObject<Version>,
  { type, version: number, os, arch }: NonNullable<ReturnType<typeof providerFileName>>,
  parents: ManifestParents,
): string | undefined {
  const { spec } = version.resource
  const parent = parents.of(version)
  const config = configOfVersion(version.resource)?.name
  const names = parent === undefined ? [config] : [config, configNameOf(parent)]
  if (names.some(Boolean) && !names.includes(type)) return `provider ${type}`
  if (normalizeVersion(spec.version) !== normalizeVersion(number)) return `version ${number}`
  if (spec.operatingSystem !== os || spec.architecture !== arch) return `${os}_${arch}`
  return undefined
}

const missing = (partial: boolean) => ({ level: partial ? 'warning' : 'error' }) as const

/** Finds Versions without parent, and those whose archive has no place: one finding for each cause. */
export function* unplacedVersions(
  versions: readonly PlacedObject<Version>[],
  { parents, partial }: Surroundings,
): Generator<LintFinding> {
  const orphans = versions.filter((version) => parents.of(version) === undefined)
  // A parent that is rejected is a finding already.
  const unknown = orphans.filter((version) => !parents.isRejected(version))
  const causeOf = ({ key, resource }: PlacedObject<Version>) => {
    const ref = parentRefOf(resource)
    return JSON.stringify(ref === undefined ? [key] : [ref, key.namespace])
  }
  yield* oncePerCause(unknown, causeOf, (version) =>
    about(version, 'no-parent', withoutParent(version), {
      path: ['spec', refFieldOf(version)],
      ...missing(partial),
    }),
  )
  const homeless = versions.filter((version) => {
    const parent = parents.of(version)
    const own = configOfVersion(version.resource)?.storageConfig
    return parent !== undefined && !own && !configOfParent(parent.resource).storageConfig
  })
  const parentKey = (version: PlacedObject<Version>) => JSON.stringify(parents.of(version)?.key)
  yield* oncePerCause(homeless, parentKey, (version) => {
    const message = `neither the Version nor its ${version.resource.spec.type} has a storageConfig: add one that says where the archive is`
    return about(version, 'no-storage', message, { path: ['spec'], ...missing(partial) })
  })
}

const refFieldOf = ({ resource }: PlacedObject<Version>) => configRefOf[resource.spec.type]

function withoutParent(version: PlacedObject<Version>): string {
  const { spec, metadata } = version.resource
  const field = refFieldOf(version)
  const name = parentRefOf(version.resource)?.name
  if (name === undefined) {
    return `has no ${spec.type}: name it in spec.${field}.name, or in an owner reference`
  }
  return `there is no ${spec.type} ${metadata.namespace}/${name}: add it, or correct spec.${field}.name`
}

/** Finds releases of providers of which nothing is served, because platforms are missing: one finding for each. */
export function* incompleteReleases(
  versions: readonly PlacedObject<Version>[],
  { parents, partial }: Surroundings,
): Generator<LintFinding> {
  const releaseOf = (version: PlacedObject<Version>): string =>
    JSON.stringify([parents.of(version)?.key, normalizeVersion(version.resource.spec.version)])
  const published = versions.filter(({ resource }) => resource.spec.upload !== undefined)
  const all = Map.groupBy(versions, releaseOf)
  const siblingsOf = (version: PlacedObject<Version>) =>
    (all.get(releaseOf(version)) ?? []).map(({ resource }) => resource)
  const lackingOf = (version: PlacedObject<Version>) =>
    awaitedPlatforms(version.resource, siblingsOf(version))
  const held = published.filter((version) => lackingOf(version).length > 0)
  yield* oncePerCause(held, releaseOf, (version) => {
    const taken = takenTextOf(version.resource, siblingsOf(version))
    const message = `the release lacks ${lackingOf(version).join(', ')}, so none of it is served: publish it again with the same zips, or delete its Versions${taken}`
    return about(version, 'incomplete-release', message, {
      path: ['spec', 'upload', 'release'],
      ...missing(partial),
    })
  })
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
