import type { Artifact } from './artifact.ts'
import type { Module } from './module.ts'
import type { Provider } from './provider.ts'
import type { ParentKind } from './rules.ts'
import type { ScanPolicy } from './scan-policy.ts'
import type { StorageConfig } from './storage-config.ts'
import type { Version } from './version.ts'

/** The part of a module's or provider's config that says where archives are. */
export interface ArchiveConfig {
  readonly name?: string | undefined
  readonly storageConfig?: StorageConfig | undefined
}

/** The location of an archive: the object `{configName}/{fileName}`, or `{fileName}` in an Azure container. */
export interface ArchiveLocation {
  readonly storage: StorageConfig
  /** Name of the module or provider in storage. */
  readonly configName: string
  readonly fileName: string
}

/** The parent of a Version, in the same namespace. */
export interface ParentRef {
  readonly kind: ParentKind
  readonly name: string
  /** False if the name comes from a config, which may differ from the parent's `metadata.name`. */
  readonly owned: boolean
  /** Uid of the owner; empty if unknown. */
  readonly uid: string
}

/** The field of a Version that has the copy of its parent's config. */
export const configRefOf = { Module: 'moduleConfigRef', Provider: 'providerConfigRef' } as const

/** The copy of its parent's config in a Version. */
export function configOfVersion(version: Version): ArchiveConfig | undefined {
  return version.spec[configRefOf[version.spec.type]]
}

export function configOfParent(
  parent: Module | Provider,
): ArchiveConfig & { readonly scanPolicy?: ScanPolicy | undefined } {
  return parent.kind === 'Module' ? parent.spec.moduleConfig : parent.spec.providerConfig
}

/**
 * The parent by owner reference, otherwise by the name in the Version's own copy of the config. Owners of other API groups
 * do not count: `parseResource` drops them.
 */
export function parentRefOf(version: Version): ParentRef | undefined {
  const kind = version.spec.type
  const owner = version.metadata.ownerReferences.find((reference) => reference.kind === kind)
  if (owner !== undefined) return { kind, name: owner.name, owned: true, uid: owner.uid ?? '' }
  const name = configOfVersion(version)?.name
  return name === undefined ? undefined : { kind, name, owned: false, uid: '' }
}

/** The name of the archive that is served. */
export function fileNameOf(version: Version): string | undefined {
  const { spec, status } = version
  return status?.artifact?.fileName ?? spec.upload?.fileName ?? spec.fileName
}

/** The SHA-256 of the archive as written; undefined if absent. */
export function checksumOf({ spec, status }: Version): string | undefined {
  return status?.checksum || spec.upload?.sha256
}

/** The platforms of a provider's version that are published together. */
export type ReleasedPlatforms = NonNullable<NonNullable<Version['spec']['upload']>['release']>

/** Equal for two Versions that were published together. */
export const releaseText = (release: ReleasedPlatforms): string =>
  release
    .map(({ platform, sha256 }) => `${platform} ${sha256Hex(sha256) ?? sha256}`)
    .toSorted()
    .join('\n')

/** The release of a Version that was never stored in full, so that it may lack platforms; undefined for every other one. */
export function openReleaseOf({ spec, status }: Version): ReleasedPlatforms | undefined {
  return spec.type === 'Provider' && !status?.checksum ? spec.upload?.release : undefined
}

export function archiveSizeOf({ spec, status }: Version): number | undefined {
  return status?.archiveSizeBytes ?? spec.upload?.sizeBytes
}

/**
 * The name of the documentation of a module or provider in storage, next to its archive. It holds the beginning of the archive's digest:
 * the name of an archive that was stored by hand may not.
 *
 * @param sha256 of the archive, in lower-case hexadecimal
 */
export const docsFileName = (fileName: string, sha256: string): string =>
  `${stemOf(fileName, sha256)}.docs.json.gz`

/**
 * The name of go.mod and go.sum of a provider in storage, next to its archive.
 *
 * @param sha256 of these files as they are packed, in lower-case hexadecimal
 */
export const sourceFileName = (fileName: string, sha256: string): string =>
  `${stemOf(fileName, sha256)}.source.zip`

/** The name under which go.mod and go.sum of a provider are stored; undefined if they are not. */
export function sourceFileOf({ fileName, sha256, source }: Artifact = {}): string | undefined {
  if (source?.sha256 === undefined || fileName === undefined || sha256 === undefined) {
    return undefined
  }
  // Earlier releases named it after the archive.
  return source.fileName ?? sourceFileName(fileName, sha256)
}

function stemOf(fileName: string, sha256: string): string {
  const stem = fileName.replace(/\.(zip|tar\.gz|tgz)$/i, '')
  const tail = `-${sha256.slice(0, 12)}`
  return stem.endsWith(tail) ? stem : stem + tail
}

/** The digest of an archive's documentation as written; undefined if it has none. */
export function docsChecksumOf({ spec, status }: Version): string | undefined {
  return (status?.artifact?.docs ?? spec.upload?.docs)?.sha256
}

/** The version without surrounding blanks and one leading `v`. It may still be invalid semver. */
export function normalizeVersion(version: string): string {
  const trimmed = version.trim()
  return /^v\d/i.test(trimmed) ? trimmed.slice(1) : trimmed
}

/**
 * A SHA-256 digest in lower-case hexadecimal.
 *
 * @param digest base64 (either alphabet, padding optional) or hexadecimal
 * @returns undefined if it is neither, or not 32 bytes long
 */
export function sha256Hex(digest: string): string | undefined {
  return sha256Bytes(digest)?.toString('hex')
}

/** As {@link sha256Hex}, but the 32 bytes. */
export function sha256Bytes(digest: string): Buffer | undefined {
  if (/^[0-9a-f]{64}$/i.test(digest)) return Buffer.from(digest, 'hex')
  return /^[\w+/-]{43}=?$/.test(digest) ? Buffer.from(digest, 'base64') : undefined
}

/** The location of archives as a Version or its parent states it. */
interface Place {
  readonly storage: StorageConfig | undefined
  /** Name in storage. */
  readonly configName: string | undefined
}

/**
 * The location of archives as a Version states it: the place of the stored archive, otherwise the Version's copy of its
 * parent's config. The two differ while an archive is copied to another storage.
 */
export function placeOfVersion(version: Version): Place {
  const own = configOfVersion(version)
  const { storageConfig: stored, configName } = version.status?.artifact ?? {}
  if (stored === undefined || configName === undefined) {
    return { storage: own?.storageConfig, configName: own?.name }
  }
  const { presign, ...storage } = stored
  const wanted = own?.storageConfig === undefined ? presign : own.storageConfig.presign
  return { storage: wanted === undefined ? storage : { ...storage, presign: wanted }, configName }
}

/**
 * The location of an archive. Storage and name come from the Version, otherwise from its parent's config. Without either, the
 * name is that of the parent.
 *
 * @param own as {@link placeOfVersion} finds it
 * @param parentName the name by which the Version refers to its parent
 * @returns undefined if a part is not known
 */
export function locationFrom(
  fileName: string | undefined,
  own: Place | undefined,
  inherited: Place | undefined,
  parentName: string | undefined,
): ArchiveLocation | undefined {
  const storage = own?.storage ?? inherited?.storage
  const configName = own?.configName ?? inherited?.configName ?? parentName
  if (fileName === undefined || storage === undefined || configName === undefined) return undefined
  return { storage, configName, fileName }
}

/**
 * As {@link locationFrom}, for whole objects.
 *
 * @param parent as `parentOf` finds it
 */
export function locationOf(
  version: Version,
  parent: Module | Provider | undefined,
): ArchiveLocation | undefined {
  const inherited = parent && configOfParent(parent)
  return locationFrom(
    fileNameOf(version),
    placeOfVersion(version),
    parent && { storage: inherited?.storageConfig, configName: inherited?.name },
    parent?.metadata.name ?? parentRefOf(version)?.name,
  )
}

/** The format that CLIs are told: by the file's ending, otherwise by the module's config. */
export function archiveFormat(
  fileName: string,
  fileFormat: 'zip' | 'tar' | undefined,
): 'zip' | 'tar.gz' {
  if (/\.zip$/i.test(fileName)) return 'zip'
  if (/\.(tar\.gz|tgz)$/i.test(fileName)) return 'tar.gz'
  return fileFormat === 'tar' ? 'tar.gz' : 'zip'
}

/** The limit of file systems and of the schema of a Version. */
const maxNameBytes = 255

/**
 * Makes the name of a stored file. The stem is cut if the name would be too long: a version may have 256 characters.
 *
 * @param tail is never cut, because it contains the digest that makes names differ
 */
export function storedName(stem: string, tail: string): string {
  const bytes = Buffer.from(stem).subarray(0, maxNameBytes - Buffer.byteLength(tail))
  // Drops a character that was cut at the end.
  return new TextDecoder().decode(bytes, { stream: true }) + tail
}

/** The traits that decide whether an object may be the parent of a Version. */
export interface ParentTraits<P> {
  /** The target system of a module; undefined: any. */
  readonly system: (parent: P) => string | undefined
  /** Empty if unknown. */
  readonly uid: (parent: P) => string
}

/** The parent that a Version asks for. */
export interface ParentWanted {
  /** Uid of the owner; empty if the owner's is unknown, undefined if there is no owner. */
  readonly ownerUid: string | undefined
  readonly system: string | undefined
}

/** Whether a module of one system matches a requested system. Undefined matches everything. */
export function fitsSystem(own: string | undefined, asked: string | undefined): boolean {
  return own === undefined || asked === undefined || own === asked
}

/**
 * The parent of a Version: 1. its owner; 2. without an owner, the object with that `metadata.name` and a matching system;
 * 3. the only matching object whose config has that name. Otherwise there is none.
 *
 * @param named the object of the name that the Version refers to, in its namespace
 * @param configured returns the objects whose config has that name
 */
export function parentOf<P>(
  { ownerUid, system }: ParentWanted,
  named: P | undefined,
  configured: () => Iterable<P>,
  traits: ParentTraits<P>,
): P | undefined {
  if (ownerUid !== undefined) {
    const uid = named === undefined ? '' : traits.uid(named)
    return ownerUid === '' || uid === '' || ownerUid === uid ? named : undefined
  }
  const fits = (parent: P): boolean => fitsSystem(traits.system(parent), system)
  if (named !== undefined && fits(named)) return named
  let only: P | undefined
  for (const parent of configured()) {
    if (!fits(parent)) continue
    if (only !== undefined) return undefined
    only = parent
  }
  return only
}
