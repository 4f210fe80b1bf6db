import semver from 'semver'
import {
  checksumOf,
  type ModuleConfig,
  normalizeVersion,
  type StorageConfig,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../base/errors/errors.ts'
import { type Objects, refOf, type StoredObject } from '../../records/store/store.ts'
import { configOf, parentNames } from '../importing/importing.ts'
import { FillError } from '../sources/sources.ts'
import { freeName, ownedBy, publishedFor, resourceOf, versionOfStored } from '../sync/sync.ts'

/** Address of a module in one registry. */
export interface PublishAddress {
  readonly namespace: string
  readonly name: string
  readonly system: string
}

/** The module that a version is published to. */
export interface Target {
  readonly address: PublishAddress
  /** Without a leading `v`. */
  readonly version: string
  /** The Module, or the one that is to be created. */
  readonly parent: StoredObject
  readonly isMissing: boolean
  readonly config: ModuleConfig & { readonly name: string; readonly storageConfig: StorageConfig }
  /** Versions with an archive. */
  readonly siblings: () => readonly Sibling[]
}

/** A version with an archive. */
export interface Sibling {
  readonly object: StoredObject
  readonly resource: Version
  readonly version: string
  /** Digest of the archive, in lower-case hexadecimal. */
  readonly sha256: string
  /** Digest of its files, if it is known. */
  readonly contentDigest: string | undefined
}

const namespacePattern = /^[0-9a-z]([0-9a-z-]{0,61}[0-9a-z])?$/
const namePattern = /^[0-9A-Za-z]([0-9A-Za-z_-]{0,62}[0-9A-Za-z])?$/
const systemPattern = /^[0-9a-z]{1,64}$/

/** Reads `NAMESPACE/NAME/SYSTEM`; undefined if it is not the address of a module. */
export function parseModuleAddress(text: string): PublishAddress | undefined {
  const [namespace = '', name = '', system = '', ...others] = text.split('/')
  const isAddress =
    namespacePattern.test(namespace) && namePattern.test(name) && systemPattern.test(system)
  return isAddress && others.length === 0 ? { namespace, name, system } : undefined
}

/**
 * Finds the module of an address.
 *
 * @param storage of a module that does not exist yet; undefined: it has to exist
 * @throws FillError NotSemver, ModuleMissing, NoStorage
 */
export function targetOf(
  objects: Objects,
  address: PublishAddress,
  spelled: string,
  storage: StorageConfig | undefined,
): Target {
  const version = normalizeVersion(spelled)
  if (semver.parse(version)?.raw !== version) {
    const message = `${JSON.stringify(spelled)} is not a semantic version: write it as 1.2.0`
    throw new FillError('NotSemver', message)
  }
  const found = moduleAt(objects, address)
  const parent = found ?? newModule(objects, address, storage)
  const { moduleConfig } = parent.spec as { readonly moduleConfig: ModuleConfig }
  const { name = parent.metadata.name, storageConfig } = moduleConfig
  if (storageConfig === undefined) {
    throw new FillError(
      'NoStorage',
      `Module ${address.namespace}/${parent.metadata.name} has no storageConfig: set spec.moduleConfig.storageConfig, which says where archives are stored`,
    )
  }
  const siblings = () =>
    [...(found ? ownedBy({ objects }, found) : []), ...publishedFor({ objects }, parent)].flatMap(
      (object) => siblingOf(object) ?? [],
    )
  const config = { ...moduleConfig, name, storageConfig }
  return { address, version, parent, isMissing: found === undefined, config, siblings }
}

/** The Module whose own name is in the address wins, then the oldest one. */
function moduleAt(
  objects: Objects,
  { namespace, name, system }: PublishAddress,
): StoredObject | undefined {
  const rank = ({ metadata }: StoredObject) =>
    `${metadata.name === name ? 0 : 1} ${metadata.creationTimestamp} ${metadata.name}`
  return objects
    .list('Module', { namespace })
    .filter(({ metadata, spec }) => {
      const { moduleConfig } = spec as { readonly moduleConfig: ModuleConfig }
      const { provider = system, name: configured = metadata.name } = moduleConfig
      return provider === system && (configured === name || metadata.name === name)
    })
    .toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))[0]
}

/** @throws FillError ModuleMissing */
function newModule(
  objects: Objects,
  address: PublishAddress,
  storage: StorageConfig | undefined,
): StoredObject {
  const { namespace, name, system } = address
  const kind = 'Module'
  if (storage === undefined) {
    throw new FillError(
      'ModuleMissing',
      `there is no Module ${name} for ${system} in namespace ${namespace}: create it, or name the storage of its archives with --storage-config`,
    )
  }
  const parent = { kind, namespace, name, system } as const
  const names = parentNames(parent)
  const isTaken = (free: string) => objects.get(kind, namespace, free) !== undefined
  return {
    kind,
    metadata: {
      name: isTaken(names.name)
        ? freeName(names.name, JSON.stringify(address), isTaken)
        : names.name,
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
    spec: { ...configOf(parent, { storage, format: 'tar.gz' }), versions: [] },
  }
}

/** Versions that are not valid are not served. */
function siblingOf(object: StoredObject): Sibling | undefined {
  const resource = attempt(() => resourceOf('Version', object))
  if (resource === undefined) return undefined
  const sha256 = sha256Hex(checksumOf(resource) ?? '')
  if (sha256 === undefined || object.metadata.deletionTimestamp !== undefined) return undefined
  const { status, spec } = resource
  const contentDigest = status?.artifact?.contentDigest ?? spec.upload?.contentDigest
  return { object, resource, version: versionOfStored(object), sha256, contentDigest }
}

/** An object as a person finds it, such as `Version team/vpc-1-0-0`. */
export function nameOf(object: StoredObject): string {
  const { kind, namespace, name } = refOf(object)
  return `${kind} ${namespace}/${name}`
}
