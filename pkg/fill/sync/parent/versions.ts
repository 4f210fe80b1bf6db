/** Modules and Providers and their Versions: those that they own, those that people published, and those that they want. */

import semver from 'semver'
import {
  configRefOf,
  type ModuleConfig,
  normalizeVersion,
  type ProviderConfig,
  parentOf,
  parentRefOf,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import {
  type Objects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../../records/store/store.ts'

/** A version as a parent's spec lists it. */
export interface SpelledVersion {
  /** As the parent's spec spells it. */
  readonly spelled: string
  /** Without a leading `v`. */
  readonly version: string
  /** The name that the parent's spec suggests for the object. */
  readonly name?: string | undefined
}

/** A Version object that should exist. */
export interface DesiredVersion extends SpelledVersion {
  readonly os?: string
  readonly arch?: string
  readonly protocols?: readonly string[]
}

/** A version or platform that was wanted and does not exist. */
export interface Skipped {
  readonly version: string
  readonly platform?: string
  readonly message: string
}

/** Identifies a Version of a parent, whatever the name of its object. */
export function identityOf({
  version,
  os = '',
  arch = '',
}: Pick<DesiredVersion, 'version' | 'os' | 'arch'>): string {
  return os === '' && arch === '' ? version : `${version} ${os}/${arch}`
}

/** The version of a stored Version, without a leading `v`. */
export function versionOfStored({ spec }: Pick<StoredObject, 'spec'>): string {
  const { version } = spec as { version?: unknown }
  return typeof version === 'string' ? normalizeVersion(version) : ''
}

export function identityOfStored({ spec }: Pick<StoredObject, 'spec'>): string {
  const { operatingSystem, architecture } = spec as Partial<Record<string, string>>
  return identityOf({
    version: versionOfStored({ spec }),
    ...(operatingSystem !== undefined && { os: operatingSystem }),
    ...(architecture !== undefined && { arch: architecture }),
  })
}

/** The versions that a parent's spec lists, each once and newest first. */
export function listedVersions(versions: readonly Omit<SpelledVersion, 'spelled'>[]): {
  readonly listed: readonly SpelledVersion[]
  readonly skipped: readonly Skipped[]
} {
  const known = new Map<string, SpelledVersion>()
  const parsed = new Map<string, semver.SemVer>()
  const skipped: Skipped[] = []
  for (const { version: spelled, name } of versions) {
    const version = normalizeVersion(spelled)
    if (known.has(version)) continue
    const read = semver.parse(version)
    if (read === null) {
      const message = 'is not a semantic version such as 1.2.0'
      skipped.push({ version: spelled.slice(0, 64), message })
    } else {
      known.set(version, { spelled: spelled.trim(), version, name })
      parsed.set(version, read)
    }
  }
  // Parsed once each: comparing texts would parse both of them every time.
  const parts = ({ version }: SpelledVersion) => parsed.get(version) ?? version
  const listed = [...known.values()].toSorted((a, b) => semver.compareBuild(parts(b), parts(a)))
  return { listed, skipped }
}

/**
 * Keeps the newest versions.
 *
 * @param limit 0 or less, or absent: all
 * @param isRetained tells versions that stay and do not count
 */
export function retention<T extends { readonly version: string }>(
  newestFirst: readonly T[],
  limit: number | undefined,
  isRetained: (version: string) => boolean,
): T[] {
  if (limit === undefined || limit <= 0) return [...newestFirst]
  const counted = newestFirst.filter(({ version }) => !isRetained(version)).slice(0, limit)
  const kept = new Set(counted)
  return newestFirst.filter((one) => kept.has(one) || isRetained(one.version))
}

/*
 * Versions that people published, such as by an import: with `spec.upload`, and without an owner. They belong to the parent
 * whose config they name, which wants them as if its spec listed them, and makes no others in their place.
 */

const configFieldOf = { Module: 'moduleConfig', Provider: 'providerConfig' } as const

interface Records {
  readonly objects: Pick<Objects, 'list'>
}

interface Config {
  readonly name?: string
  /** Target system of a module. */
  readonly provider?: string
}

/** Lists the Versions without an owner that name the config of a parent. */
function named({ objects }: Records, parent: StoredObject): StoredObject[] {
  const { namespace } = parent.metadata
  return objects
    .list('Version', { namespace, ownerUid: '' })
    .filter((version) => isOf(version, parent))
}

/** Lists the Versions that people published for a parent. */
export const publishedFor = (context: Records, parent: StoredObject): StoredObject[] =>
  named(context, parent).filter(isPublished)

/** The versions as a spec would list them. */
export const versionsIn = (published: readonly StoredObject[]): { readonly version: string }[] =>
  published.map((version) => ({ version: versionOfStored(version) }))

/** The parents for which a person published a Version; none for another Version. */
export function publishedParents(
  objects: Pick<Objects, 'list'>,
  version: StoredObject | undefined,
): StoredRef[] {
  if (version?.kind !== 'Version' || !isPublished(version)) return []
  const { namespace } = version.metadata
  return parentsIn(objects, { namespace })
    .filter((parent) => isOf(version, parent))
    .map(refOf)
}

function isPublished({ metadata, spec }: StoredObject): boolean {
  return metadata.ownerReferences.length === 0 && fieldOf(spec, 'upload') !== undefined
}

/** Lists the Versions of a parent whose archives people placed in storage, without saying more than their names. */
export const placedFor = (context: Records, parent: StoredObject): StoredObject[] =>
  named(context, parent).filter(isPlaced)

const isPlaced = ({ metadata, spec }: StoredObject): boolean =>
  metadata.ownerReferences.length === 0 &&
  fieldOf(spec, 'upload') === undefined &&
  fieldOf(spec, 'fileName') !== undefined

function isOf(version: StoredObject, { kind, metadata, spec }: StoredObject): boolean {
  if (kind !== 'Module' && kind !== 'Provider') return false
  const ref = fieldOf(version.spec, configRefOf[kind]) as Config | undefined
  const config = fieldOf(spec, configFieldOf[kind]) as Config | undefined
  const systems = [ref?.provider, config?.provider].filter((system) => system !== undefined)
  return (
    version.metadata.deletionTimestamp === undefined &&
    fieldOf(version.spec, 'type') === kind &&
    ref?.name === (config?.name ?? metadata.name) &&
    new Set(systems).size < 2
  )
}

const fieldOf = (spec: unknown, name: string): unknown =>
  (spec as Readonly<Record<string, unknown>>)[name]

/** Lists the Versions that a parent owns. */
export function ownedBy({ objects }: Records, { metadata }: StoredObject): StoredObject[] {
  return objects.list('Version', { namespace: metadata.namespace, ownerUid: metadata.uid })
}

/** Lists all Versions of a parent: its own, and those that people published for it. */
export const versionsOf = (context: Records, parent: StoredObject): StoredObject[] => [
  ...ownedBy(context, parent),
  ...publishedFor(context, parent),
]

/** Lists Modules and Providers. */
export const parentsIn = (
  objects: Pick<Objects, 'list'>,
  filter?: Parameters<Objects['list']>[1],
): StoredObject[] => [...objects.list('Module', filter), ...objects.list('Provider', filter)]

const traits = {
  system: (parent: StoredObject) => systemOf(configOf(parent)),
  uid: ({ metadata }: StoredObject) => metadata.uid,
}

/** The Module or Provider of a Version, as servers find it. An owner that was deleted and created again counts, too. */
export function parentOfVersion(
  { objects }: { readonly objects: Pick<Objects, 'get' | 'list'> },
  version: Version,
): StoredObject | undefined {
  const ref = parentRefOf(version)
  if (ref === undefined) return undefined
  const { kind, name, owned } = ref
  const { namespace } = version.metadata
  const wanted = {
    ownerUid: owned ? '' : undefined,
    system: systemOf(version.spec.moduleConfigRef),
  }
  const configured = () =>
    objects
      .list(kind, { namespace })
      .filter((parent) => (configOf(parent)?.name ?? parent.metadata.name) === name)
  return parentOf(wanted, objects.get(kind, namespace, name), configured, traits)
}

/** The config of a Module or Provider. */
export function configOf(
  parent: StoredObject | undefined,
): ModuleConfig | ProviderConfig | undefined {
  if (parent === undefined) return undefined
  const { moduleConfig, providerConfig } = parent.spec as {
    moduleConfig?: ModuleConfig
    providerConfig?: ProviderConfig
  }
  return moduleConfig ?? providerConfig
}

/** The config of a Version of a module, which can say more than that of its Module. */
export const moduleConfigOf = (
  parent: StoredObject | undefined,
  { spec }: Version,
): ModuleConfig => ({
  ...configOf(parent),
  ...spec.moduleConfigRef,
})

/** The same of a provider. */
export const providerConfigOf = (
  parent: StoredObject | undefined,
  { spec }: Version,
): Partial<ProviderConfig> => ({ ...configOf(parent), ...spec.providerConfigRef })

const systemOf = (config: ModuleConfig | ProviderConfig | undefined): string | undefined =>
  config !== undefined && 'provider' in config ? config.provider : undefined
