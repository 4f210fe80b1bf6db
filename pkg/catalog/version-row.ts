import {
  type ArchiveLocation,
  archiveSizeOf,
  checksumOf,
  configOfVersion,
  fileNameOf,
  normalizeVersion,
  parentRefOf,
  type Scan,
  type StorageConfig,
  sha256Hex,
  type Version,
} from '../apis/v1alpha1/v1alpha1.ts'
import type { FindingList, FindingTable } from './findings.ts'
import { Interner } from './interner.ts'
import type { Parent } from './parent.ts'
import type { ReadmeRef } from './readme-ref.ts'
import { revisionOf } from './revision.ts'
import { compareText, isSemver, newestFirst } from './semver-order.ts'

/** What many rows have in common is kept once. */
export class RowContext {
  readonly findings: FindingTable
  readonly #strings = new Interner<string>()
  readonly #storages = new Interner<StorageConfig>()
  readonly #protocols = new Interner<readonly string[]>()

  constructor(findings: FindingTable) {
    this.findings = findings
  }

  string(value: string): string {
    return this.#strings.get(value, value)
  }

  optional(value: string | undefined): string | undefined {
    return value === undefined ? undefined : this.string(value)
  }

  storage(value: StorageConfig | undefined): StorageConfig | undefined {
    return value && this.#storages.get(JSON.stringify(value), value)
  }

  protocols(value: readonly string[] | undefined): readonly string[] | undefined {
    return value && this.#protocols.get(JSON.stringify(value), value)
  }
}

/** A Version: one archive. Fields are few and flat, because there may be 200,000 of them. */
export class VersionRow {
  readonly namespace: string
  readonly name: string
  readonly revision: number
  readonly kind: 'Module' | 'Provider'
  readonly parentName: string | undefined
  /** Whether `parentName` comes from an owner reference and so is the parent's own name. */
  readonly owned: boolean
  /** Normalised: no leading `v`. */
  readonly version: string
  readonly os: string | undefined
  readonly arch: string | undefined
  readonly protocols: readonly string[] | undefined
  readonly fileName: string | undefined
  /** Of the Version itself; {@link location} also looks at its parent. */
  readonly storage: StorageConfig | undefined
  readonly configName: string | undefined
  /** SHA-256 in hexadecimal; undefined where there is none or it is malformed. */
  readonly sha256: string | undefined
  readonly checksumMalformed: boolean
  readonly sizeBytes: number | undefined
  readonly synced: boolean
  readonly syncStatus: string
  readonly sourceScannedAt: string | undefined
  readonly sourceFindings: FindingList
  readonly binaryScannedAt: string | undefined
  readonly binaryFindings: FindingList
  /** Where its README is kept; modules only. */
  readonly readme: ReadmeRef | undefined
  parent: Parent | undefined = undefined
  generation = 0

  constructor(version: Version, context: RowContext) {
    const { metadata, spec, status } = version
    const ref = parentRefOf(version)
    const config = configOfVersion(version)
    this.namespace = context.string(metadata.namespace)
    this.name = metadata.name
    this.revision = revisionOf(metadata.resourceVersion)
    this.kind = spec.type
    this.parentName = context.optional(ref?.name)
    this.owned = ref?.owned ?? false
    this.version = context.string(normalizeVersion(spec.version))
    this.os = context.optional(spec.operatingSystem)
    this.arch = context.optional(spec.architecture)
    this.protocols = context.protocols(spec.protocols ?? spec.providerConfigRef?.protocols)
    this.fileName = fileNameOf(version)
    this.storage = context.storage(config?.storageConfig)
    this.configName = context.optional(config?.name)
    const checksum = checksumOf(version)
    this.sha256 = sha256Hex(checksum ?? '')
    this.checksumMalformed = this.sha256 === undefined && Boolean(checksum)
    this.sizeBytes = archiveSizeOf(version)
    this.synced = status?.synced ?? false
    this.syncStatus = context.string(status?.syncStatus ?? '')
    this.sourceScannedAt = scannedAt(status?.sourceScan)
    this.sourceFindings = context.findings.hold(status?.sourceScan?.findings ?? [])
    this.binaryScannedAt = scannedAt(status?.binaryScan)
    this.binaryFindings = context.findings.hold(status?.binaryScan?.findings ?? [])
    this.readme = spec.type === 'Module' ? status?.readmeConfigMapRef : undefined
  }

  /** Where the archive is; undefined while nobody has said. */
  get location(): ArchiveLocation | undefined {
    const { fileName } = this
    const storage = this.storage ?? this.parent?.resource?.storage
    const configName = this.configName ?? this.parent?.resource?.configName ?? this.parentName
    if (fileName === undefined || storage === undefined || configName === undefined)
      return undefined
    return { storage, configName, fileName }
  }

  /** Whether a CLI can have it: a checksum, a file name and a backend are known, and the version is semver. */
  get downloadable(): boolean {
    return this.unavailable === undefined
  }

  /** Why it cannot be downloaded, as the end of a sentence; undefined where it can. */
  get unavailable(): string | undefined {
    if (!isSemver(this.version)) return 'its version is not a semantic version'
    if (this.kind === 'Provider' && (this.os === undefined || this.arch === undefined)) {
      return 'it names no operatingSystem and architecture'
    }
    if (this.fileName === undefined) return 'it has no file name'
    if (!isPlain(this.fileName, this.kind)) return 'its file name holds what a file name may not'
    if (this.location === undefined) return 'neither it nor its parent has a storageConfig'
    if (this.sha256 !== undefined) return undefined
    if (this.checksumMalformed) return 'its checksum is not a SHA-256 in base64 or hexadecimal'
    return this.syncStatus === ''
      ? 'its archive has not been synchronised yet'
      : `its archive has not been synchronised yet (${this.syncStatus})`
  }

  get state(): 'synced' | 'unsynced' | 'failed' | 'unservable' {
    if (!this.downloadable) return 'unservable'
    return this.health
  }

  /** How its last synchronisation went, whether or not its archive can be had. */
  get health(): 'synced' | 'unsynced' | 'failed' {
    if (/failed|error/i.test(this.syncStatus)) return 'failed'
    return this.synced ? 'synced' : 'unsynced'
  }
}

/** A provider's file name is a word of SHA256SUMS and of a CLI's cache. */
function isPlain(fileName: string, kind: 'Module' | 'Provider'): boolean {
  for (const character of fileName) {
    if (character < ' ' || character === '\u007f') return false
    if (kind === 'Provider' && (character === '/' || character === '\\')) return false
  }
  return true
}

function scannedAt(scan: Scan | undefined): string | undefined {
  return scan && (scan.scannedAt ?? '')
}

/** Newest version first, then by platform, then by name so that the order does not depend on the history. */
export function versionOrder(a: VersionRow, b: VersionRow): number {
  return (
    newestFirst(a.version, b.version) ||
    compareText(a.os, b.os) ||
    compareText(a.arch, b.arch) ||
    compareText(a.name, b.name)
  )
}
