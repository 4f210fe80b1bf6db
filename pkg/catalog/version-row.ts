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
import { byAge } from './rank.ts'
import type { ReadmeRef } from './readme-ref.ts'
import { identityOf, revisionOf } from './revision.ts'
import { compareText, isSemver, newestFirst } from './semver-order.ts'

/** What many rows have in common is kept once. */
export class RowContext {
  readonly findings: FindingTable
  /** Of the parents that own Versions. */
  readonly apiGroup: string
  readonly #strings = new Interner<string>()
  readonly #storages = new Interner<StorageConfig>()
  readonly #protocols = new Interner<readonly string[]>()

  constructor(findings: FindingTable, apiGroup: string) {
    this.findings = findings
    this.apiGroup = apiGroup
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
  /** Of the object's uid. */
  readonly identity: number
  readonly kind: 'Module' | 'Provider'
  readonly parentName: string | undefined
  /**
   * Where `parentName` comes from an owner reference and so is the parent's own name: the owner's uid, empty where that is
   * not known.
   */
  readonly ownerUid: string | undefined
  /** Target system that the Version's copy of its module's config says. */
  readonly system: string | undefined
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
  /** Whether an older Version is the same version of the same parent, for the same platform. */
  isDuplicate = false
  /** @see Ranked */
  rank = 0
  generation = 0

  constructor(version: Version, context: RowContext) {
    const { metadata, spec, status } = version
    const ref = parentRefOf(version, context.apiGroup)
    const config = configOfVersion(version)
    this.namespace = context.string(metadata.namespace)
    this.name = metadata.name
    this.revision = revisionOf(metadata.resourceVersion)
    this.identity = identityOf(metadata.uid)
    this.kind = spec.type
    this.parentName = context.optional(ref?.name)
    this.ownerUid = ref?.owned === true ? context.string(ref.uid) : undefined
    this.system = context.optional(spec.moduleConfigRef?.provider)
    this.version = context.string(normalizeVersion(spec.version))
    const isProvider = spec.type === 'Provider'
    this.os = isProvider ? context.optional(spec.operatingSystem) : undefined
    this.arch = isProvider ? context.optional(spec.architecture) : undefined
    this.protocols = context.protocols(spec.protocols ?? spec.providerConfigRef?.protocols)
    this.fileName = fileNameOf(version)
    this.storage = context.storage(config?.storageConfig)
    this.configName = context.optional(config?.name)
    const checksum = checksumOf(version)
    this.sha256 = sha256Hex(checksum ?? '')
    this.checksumMalformed = this.sha256 === undefined && Boolean(checksum)
    this.sizeBytes = archiveSizeOf(version)
    // What was published by its digest is in sync without a controller that says so.
    this.synced = status?.synced ?? spec.upload?.sha256 !== undefined
    this.syncStatus = context.string(status?.syncStatus ?? '')
    this.sourceScannedAt = scannedAt(status?.sourceScan)
    this.sourceFindings = context.findings.hold(status?.sourceScan?.findings ?? [])
    const binaryScan = isProvider ? status?.binaryScan : undefined
    this.binaryScannedAt = scannedAt(binaryScan)
    this.binaryFindings = context.findings.hold(binaryScan?.findings ?? [])
    const readme = isProvider ? undefined : status?.readmeConfigMapRef
    this.readme = readme && { ...readme, version: metadata.name }
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
    // Of a duplicate the reason takes a search.
    return !this.isDuplicate && this.unavailable === undefined
  }

  /** Why it cannot be downloaded, as the end of a sentence; undefined where it can. */
  get unavailable(): string | undefined {
    const { parent } = this
    if (!isSemver(this.version)) return 'its version is not a semantic version'
    if (parent === undefined) {
      return `it has no parent: no ${this.kind} of its namespace fits it, or several do; set an owner reference`
    }
    if (this.isDuplicate) {
      return `duplicate of ${parent.originalOf(this)?.name}, which was created first`
    }
    if (parent.displacedBy !== undefined) {
      return `the address of ${this.kind} ${parent.name} is that of ${parent.displacedBy}, which is older: give one of them another name in its config`
    }
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

/** Newest version first, then by platform, then by age. */
export function versionOrder(a: VersionRow, b: VersionRow): number {
  return (
    newestFirst(a.version, b.version) ||
    compareText(a.os, b.os) ||
    compareText(a.arch, b.arch) ||
    byAge(a, b)
  )
}

/** Whether both are the same version for the same platform. */
export function isSameArchive(a: VersionRow, b: VersionRow): boolean {
  return a.version === b.version && a.os === b.os && a.arch === b.arch
}
