import semver from 'semver'
import {
  checksumOf,
  type ModuleConfig,
  normalizeVersion,
  type ParentKind,
  type ProviderConfig,
  type StorageConfig,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import type { ArchivePlace, ArchiveStore } from '../../archives/storage/storage.ts'
import { attempt } from '../../base/errors/errors.ts'
import { type Objects, refOf, type StoredObject } from '../../records/store/store.ts'
import { configOf, parentNames } from '../importing/importing.ts'
import { FillError, type Platform } from '../sources/sources.ts'
import {
  freeName,
  identityOf,
  identityOfStored,
  ownedBy,
  placedFor,
  publishedFor,
  resourceOf,
  versionOfStored,
} from '../sync/sync.ts'

/** Address of a module, or of a provider, in one registry. */
export interface PublishAddress {
  readonly namespace: string
  /** Name of the module, or type of the provider. */
  readonly name: string
  /** Modules only. */
  readonly system?: string
}

/** The fields of a config that publishing reads. */
type PublishConfig = Pick<ModuleConfig, 'provider' | 'fileFormat' | 'versionPolicy'> &
  Pick<ProviderConfig, 'name' | 'storageConfig' | 'trustedKeys'>

/** The module or provider that a version is published to. */
export interface Target {
  readonly kind: ParentKind
  readonly address: PublishAddress
  /** Without a leading `v`. */
  readonly version: string
  /** The Module or Provider, or the one that is to be created. */
  readonly parent: StoredObject
  readonly isMissing: boolean
  readonly config: PublishConfig & { readonly name: string; readonly storageConfig: StorageConfig }
  /**
   * Versions with an archive.
   *
   * @param isWanted says which versions are read, because each costs time. Default: all
   */
  readonly siblings: (isWanted?: (version: string) => boolean) => readonly Sibling[]
}

/** A version with an archive. */
export interface Sibling {
  readonly object: StoredObject
  readonly resource: Version
  readonly version: string
  /** Differs for each platform of a provider. */
  readonly identity: string
  /** Digest of the archive, in lower-case hexadecimal. Undefined if people placed it in storage, where servers compute it. */
  readonly sha256: string | undefined
  /** Digest of its files, if it is known. */
  readonly contentDigest: string | undefined
}

/** `NAMESPACE/NAME/SYSTEM` or `NAMESPACE/TYPE`. */
export const addressText = ({ namespace, name, system }: PublishAddress): string =>
  [namespace, name, system].filter((part) => part !== undefined).join('/')

const namespacePattern = /^[0-9a-z]([0-9a-z-]{0,61}[0-9a-z])?$/
const namePattern = /^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$/
const systemPattern = /^[0-9a-z]{1,64}$/
const typePattern = /^[0-9a-z]([0-9a-z-]{0,62}[0-9a-z])?$/

/** Reads `NAMESPACE/NAME/SYSTEM`; undefined if it is not the address of a module. */
export function parseModuleAddress(text: string): PublishAddress | undefined {
  const [namespace = '', name = '', system = '', ...others] = text.split('/')
  const isAddress =
    namespacePattern.test(namespace) && namePattern.test(name) && systemPattern.test(system)
  return isAddress && others.length === 0 ? { namespace, name, system } : undefined
}

/** Reads `NAMESPACE/TYPE`; undefined if it is not the address of a provider. */
export function parseProviderAddress(text: string): PublishAddress | undefined {
  const [namespace = '', name = '', ...others] = text.split('/')
  const isAddress = namespacePattern.test(namespace) && typePattern.test(name)
  return isAddress && others.length === 0 ? { namespace, name } : undefined
}

const configField = { Module: 'moduleConfig', Provider: 'providerConfig' } as const

const configIn = (kind: ParentKind, { spec }: StoredObject): PublishConfig =>
  (spec as Readonly<Record<string, PublishConfig>>)[configField[kind]] ?? {}

/** Origin of the config of a Module or Provider that does not exist yet. Neither: it has to exist. */
export interface ConfigOrigin {
  readonly storage?: StorageConfig | undefined
  /** Module as `NAME` or `NAMESPACE/NAME`. */
  readonly template?: string | undefined
}

/** A version as it is published. @throws FillError NotSemver */
export function publishedVersion(spelled: string): string {
  const version = normalizeVersion(spelled)
  if (semver.parse(version)?.raw === version) return version
  const message = `${JSON.stringify(spelled)} is not a semantic version: write it as 1.2.0`
  throw new FillError('NotSemver', message)
}

/**
 * Finds the module or provider of an address.
 *
 * @throws FillError NotSemver, NoParent, NoStorage
 */
export function targetOf(
  objects: Objects,
  address: PublishAddress,
  spelled: string,
  origin: ConfigOrigin,
): Target {
  const version = publishedVersion(spelled)
  const kind = address.system === undefined ? 'Provider' : 'Module'
  const [found] = claimsOf(objects, address)
  if (found?.metadata.deletionTimestamp !== undefined) {
    const message = `${nameOf(found)} is being deleted: wait until it is gone, and create it again`
    throw new FillError('NoParent', message)
  }
  const parent = found ?? newParent(objects, kind, address, origin)
  const shared = configIn(kind, parent)
  const { name = parent.metadata.name, storageConfig } = shared
  if (storageConfig === undefined) {
    throw new FillError(
      'NoStorage',
      `${nameOf(parent)} has no storageConfig: set spec.${configField[kind]}.storageConfig, which says where archives are stored`,
    )
  }
  const siblings: Target['siblings'] = (isWanted = () => true) =>
    [
      ...(found ? ownedBy({ objects }, found) : []),
      ...publishedFor({ objects }, parent),
      ...placedFor({ objects }, parent),
    ]
      .filter((object) => isWanted(versionOfStored(object)))
      .flatMap((object) => siblingOf(object) ?? [])
  const config = { ...shared, name, storageConfig }
  return { kind, address, version, parent, isMissing: found === undefined, config, siblings }
}

/** The storage of a module or provider. @throws FillError StorageNotGranted */
export function grantedPlace(
  { archives }: { readonly archives: ArchiveStore },
  { kind, address: { namespace }, config }: Target,
): ArchivePlace {
  const place = archives.for(config.storageConfig, config.name)
  if (place.isGrantedTo(namespace)) return place
  throw new FillError(
    'StorageNotGranted',
    `namespace ${namespace} may not store archives where its ${kind.toLowerCase()} says: ask for a storage grant, or change storageConfig`,
  )
}

/** The Modules or Providers with an address. The first one wins: by its own name, otherwise by its age. */
export function claimsOf(
  objects: Objects,
  { namespace, name, system }: PublishAddress,
): readonly StoredObject[] {
  const kind = system === undefined ? 'Provider' : 'Module'
  const rank = ({ metadata }: StoredObject) =>
    `${metadata.name === name ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`
  return objects
    .list(kind, { namespace })
    .filter((object) => {
      const { provider = system, name: configured = object.metadata.name } = configIn(kind, object)
      const isOfSystem = kind === 'Provider' || provider === system
      return isOfSystem && (configured === name || object.metadata.name === name)
    })
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
}

/** The metadata.name that a new Module or Provider gets. */
export function newName(objects: Objects, kind: ParentKind, address: PublishAddress): string {
  const { name } = parentNames({ kind, ...address })
  const isTaken = (free: string) => objects.get(kind, address.namespace, free) !== undefined
  return isTaken(name) ? freeName(name, JSON.stringify(address), isTaken) : name
}

/** @throws FillError NoParent */
function newParent(
  objects: Objects,
  kind: ParentKind,
  address: PublishAddress,
  origin: ConfigOrigin,
): StoredObject {
  const { namespace } = address
  const spec = specOf(objects, kind, address, origin)
  return {
    kind,
    metadata: {
      name: newName(objects, kind, address),
      namespace,
      uid: '',
      resourceVersion: '',
      generation: 0,
      creationTimestamp: '',
      labels: {},
      annotations: {},
      finalizers: [],
      ownerReferences: [],
    },
    spec: { ...spec, versions: [] },
  }
}

/** @throws FillError NoParent, NoStorage */
function specOf(
  objects: Objects,
  kind: ParentKind,
  address: PublishAddress,
  { storage, template }: ConfigOrigin,
): object {
  const { namespace, name, system } = address
  if (storage !== undefined) {
    return configOf({ kind, ...address }, { storage, format: 'tar.gz' })
  }
  const what = `${kind} ${system === undefined ? name : `${name} for ${system}`}`
  if (template === undefined || kind === 'Provider') {
    throw new FillError(
      'NoParent',
      `there is no ${what} in namespace ${namespace}: create it; depot publish --direct can create it with --storage-config`,
    )
  }
  const [last = '', from = namespace] = template.split('/').toReversed()
  const found = objects.get('Module', from, last)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) {
    throw new FillError(
      'NoParent',
      `there is no ${what} in namespace ${namespace}, and no Module ${from}/${last} as its template, which --publish-template of the controller names: create one of them`,
    )
  }
  const config = configIn('Module', found)
  if (config.storageConfig === undefined) {
    throw new FillError(
      'NoStorage',
      `the template ${nameOf(found)} has no storageConfig: set spec.moduleConfig.storageConfig, which says where archives are stored`,
    )
  }
  const own = Object.entries(config).filter(([field]) => !ofSource.has(field))
  return { moduleConfig: { ...Object.fromEntries(own), name, provider: system } }
}

/** Fields of a config by which versions come from elsewhere. */
const ofSource: ReadonlySet<string> = new Set([
  'source',
  'repoOwner',
  'repoUrl',
  'githubClientConfig',
  'versionConstraints',
])

/** Versions that are not valid are not served. */
function siblingOf(object: StoredObject): Sibling | undefined {
  const resource = attempt(() => resourceOf('Version', object))
  if (resource === undefined) return undefined
  const sha256 = sha256Hex(checksumOf(resource) ?? '')
  const { status, spec } = resource
  // What Depot fetches itself has no archive before it has a digest.
  const isPlaced = object.metadata.ownerReferences.length === 0 && spec.fileName !== undefined
  const isThere = sha256 !== undefined || isPlaced
  if (!isThere || object.metadata.deletionTimestamp !== undefined) return undefined
  const contentDigest = status?.artifact?.contentDigest ?? spec.upload?.contentDigest
  const [version, identity] = [versionOfStored(object), identityOfStored(object)]
  return { object, resource, version, identity, sha256, contentDigest }
}

/** The archive of a version. */
interface Digests {
  readonly sha256: string
  readonly contentDigest?: string | undefined
  /** Providers only. */
  readonly platform?: Platform | undefined
}

const siblingsOfVersion = ({ siblings, version }: Target) => siblings((one) => one === version)

const siblingsAt = (target: Target, { platform }: Digests): Sibling[] => {
  const wanted = identityOf({ version: target.version, ...platform })
  return siblingsOfVersion(target).filter(({ identity }) => identity === wanted)
}

/** Other releases of zlib pack the same files into other bytes. */
const isSame = (one: Sibling, { sha256, contentDigest }: Digests): boolean =>
  one.sha256 === sha256 || (contentDigest !== undefined && one.contentDigest === contentDigest)

/** The version, if it is published with these files. */
export const publishedAs = (target: Target, digests: Digests): Sibling | undefined =>
  siblingsAt(target, digests).find((one) => isSame(one, digests))

/** The refusal of other files for a version that is published. */
export function conflictOf(target: Target, digests: Digests): FillError | undefined {
  const there = siblingsAt(target, digests)
  const [other] = there
  if (other === undefined || there.some((one) => isSame(one, digests))) return undefined
  const { os, arch } = digests.platform ?? {}
  const what = [target.version, os, arch].filter((part) => part !== undefined).join(' ')
  return new FillError(
    'VersionExists',
    other.sha256 === undefined
      ? `${what} exists already: ${nameOf(other.object)} names an archive that was placed in storage. The files of a version never change: publish another version`
      : `${what} is published with other files: it has SHA-256 ${other.sha256} (${nameOf(other.object)}), and this archive has ${digests.sha256}. The files of a version never change: publish another version`,
  )
}

/** A platform as one word, such as `linux_amd64`. */
export const platformText = ({ os, arch }: Platform): string => `${os}_${arch}`

/** The platform of a published archive. */
export function platformOf({ resource: { spec } }: Sibling): string {
  const { operatingSystem: os = '', architecture: arch = '' } = spec
  return platformText({ os, arch })
}

/** The published platforms of a version. */
export const platformsOf = (target: Target): readonly string[] =>
  siblingsOfVersion(target).map(platformOf).toSorted()

/** The refusal of a release that lacks a published platform: the archives of a version are from one build. */
export function otherBuildOf(
  target: Target,
  release: readonly {
    readonly platform: Platform
    readonly file: Pick<Digests, 'sha256'>
  }[],
): FillError | undefined {
  const { version } = target
  const platforms = new Map(release.map((one) => [platformText(one.platform), one] as const))
  const there = siblingsOfVersion(target)
  const lacking = there.filter((one) => !platforms.has(platformOf(one)))
  const [first] = lacking
  const [any] = release
  if (first === undefined || any === undefined) return undefined
  const differs = (one: Sibling): boolean => {
    const own = platforms.get(platformOf(one))?.file.sha256
    return own !== undefined && own !== one.sha256
  }
  const other = there.find(differs) ?? first
  const digests = bothTexts(other, platforms.get(platformOf(other)) ?? any)
  return new FillError(
    'VersionExists',
    `${version} is published with ${lacking.map(platformOf).toSorted().join(', ')}, which this release lacks: ${digests}. Publish all platforms of one build, or another version`,
  )
}

/** Names a published archive, and one of this release: of the same platform if both have it. */
export function bothTexts(
  there: Sibling,
  own: { readonly platform: Platform; readonly file: Pick<Digests, 'sha256'> },
): string {
  const { sha256, object } = there
  const archive = sha256 === undefined ? 'placed in storage' : `SHA-256 ${sha256}`
  return `it has ${platformOf(there)} (${nameOf(object)}, ${archive}), and this release has ${platformText(own.platform)} (SHA-256 ${own.file.sha256})`
}

/** An object as a person finds it, such as `Version team/vpc-1-0-0`. */
export function nameOf(object: StoredObject): string {
  const { kind, namespace, name } = refOf(object)
  return `${kind} ${namespace}/${name}`
}
