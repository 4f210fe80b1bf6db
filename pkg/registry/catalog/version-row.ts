import type { PublishedFrom } from '../../api/browse/browse.ts'
import {
  effectiveLifecycle,
  type Lifecycle,
  type QuarantineEntry,
} from '../../api/lifecycle/lifecycle.ts'
import {
  type ArchiveLocation,
  archiveSizeOf,
  checksumOf,
  docsChecksumOf,
  docsFileName,
  fileNameOf,
  incompleteReleases,
  locationFrom,
  normalizeVersion,
  type ParentKind,
  takenText,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { byAge, compareText, isSemver, newestFirst } from './collections.ts'
import type { FindingList } from './findings.ts'
import {
  criticalSinceOf,
  type Rare,
  type ReadmeRef,
  rareOf,
  scannedAt,
  secondsOf,
  servedScans,
} from './rare.ts'
import {
  type Common,
  commonOf,
  digestOf,
  identityOf,
  type ResourceRow,
  type RowContext,
  revisionOf,
} from './resource-row.ts'
import {
  type Breaks,
  breakingChange,
  duplicateOf,
  parentMissing,
  quarantined,
  releaseIncomplete,
  type Unserved,
} from './unserved.ts'

const unscanned: readonly QuarantineEntry[] = [
  { by: 'ScanPolicy', message: 'it was just published, and it was not scanned yet' },
]

/** The part of a Module or Provider that its Versions read. */
export interface ParentOfVersion {
  /** `metadata.name` */
  readonly name: string
  readonly resource: ResourceRow | undefined
  /** @see Parent.displacedBy */
  readonly displacedBy: string | undefined
  rowsOf(version: string): readonly VersionRow[]
  originalOf(row: VersionRow): VersionRow | undefined
  hasNewerActive(version: string): boolean
  memo<T>(key: string, compute: () => T): T
}

/** A Version: one archive. It has few fields, because there may be 200,000 rows. */
export class VersionRow {
  readonly name: string
  readonly revision: number
  /** Hash of the object's uid. */
  readonly identity: number
  /** Normalised: no leading `v`. */
  readonly version: string
  readonly fileName: string | undefined
  readonly sizeBytes: number | undefined
  /** When its archive was stored, otherwise when it was created, in seconds since 1970; 0 if both are unknown. */
  readonly publishedAt: number
  readonly sourceScannedAt: string | undefined
  readonly sourceFindings: FindingList
  /** When its last CRITICAL finding was found, in seconds since 1970; 0 without one. */
  readonly criticalSince: number
  /** SHA-256 as 32 bytes, a character each; undefined if it is missing or malformed. */
  readonly digest: string | undefined
  /** The same for its documentation. */
  readonly docsDigest: string | undefined
  readonly common: Common
  readonly #rare: Rare
  parent: ParentOfVersion | undefined = undefined
  /** Whether an older Version is the same version of the same parent, for the same platform. */
  isDuplicate = false
  /** @see Ranked */
  rank = 0
  generation = 0

  /** @param old the row that this one replaces */
  constructor(version: Version, context: RowContext, old?: VersionRow) {
    const { metadata, spec, status } = version
    this.name = old?.name ?? metadata.name
    this.revision = revisionOf(metadata.resourceVersion)
    this.identity = identityOf(metadata.uid)
    this.version = context.string(normalizeVersion(spec.version))
    this.fileName = fileNameOf(version)
    const checksum = checksumOf(version)
    this.digest = checksum ? digestOf(checksum) : undefined
    this.docsDigest = digestOf(docsChecksumOf(version) ?? '')
    this.sizeBytes = archiveSizeOf(version)
    // Seconds fit into the row. Milliseconds would not.
    this.publishedAt = secondsOf(status?.artifact?.storedAt ?? metadata.creationTimestamp)
    const scans = servedScans(version, this.digest)
    const { sourceScan, binaryScan, isSourceCut = false, isBinaryCut = false } = scans
    this.sourceScannedAt = context.string(scannedAt(sourceScan))
    this.sourceFindings = context.findings.hold(sourceScan?.findings ?? [])
    this.common = context.common(commonOf(version), old?.common)
    const checksumMalformed = Boolean(checksum) && this.digest === undefined
    const scan = spec.type === 'Provider' ? binaryScan : undefined
    this.criticalSince = criticalSinceOf(version, scans)
    const facts = { scan, isSourceCut, isBinaryCut, checksumMalformed }
    this.#rare = rareOf(version, facts, context)
  }

  get namespace(): string {
    return this.common.namespace
  }

  get kind(): ParentKind {
    return this.common.kind
  }

  get parentName(): string | undefined {
    return this.common.parentName
  }

  /**
   * The uid of the owner if `parentName` comes from an owner reference, so that it is the parent's own name; empty if the uid
   * is unknown.
   */
  get ownerUid(): string | undefined {
    return this.common.ownerUid
  }

  /** Target system in the Version's copy of its module's config. */
  get system(): string | undefined {
    return this.common.system
  }

  /** The tag of the repository that its archive was made from; undefined if it is unknown. */
  get tag(): string | undefined {
    const { tagPrefix } = this.common
    return tagPrefix === undefined ? undefined : tagPrefix + this.version
  }

  get os(): string | undefined {
    return this.common.os
  }

  get arch(): string | undefined {
    return this.common.arch
  }

  get protocols(): readonly string[] | undefined {
    return this.common.protocols
  }

  get syncStatus(): string {
    return this.common.syncStatus
  }

  get binaryScannedAt(): string | undefined {
    return this.#rare.binaryScannedAt
  }

  /** Whether findings of its source are missing, because there were too many. */
  get isSourceCut(): boolean {
    return this.#rare.isSourceCut
  }

  /** The same for its binary. */
  get isBinaryCut(): boolean {
    return this.#rare.isBinaryCut
  }

  /** Whether a provider has a source, or may have one that could not be read yet, and has no known scan of it. */
  get lacksSourceScan(): boolean {
    return this.#rare.hasSource && this.sourceScannedAt === undefined
  }

  get binaryFindings(): FindingList {
    return this.#rare.binaryFindings
  }

  /** The place of its README; modules only. */
  get readme(): ReadmeRef | undefined {
    return this.#rare.readme
  }

  /** SHA-256 of the archives of every platform in upstream, in hexadecimal; only for providers from an upstream. */
  get releaseDigests(): readonly string[] {
    return this.#rare.releaseDigests?.split(' ') ?? []
  }

  /** Changes that break callers although its number promises none; modules only. */
  get breaks(): Breaks | undefined {
    return this.#rare.breaks
  }

  /** Its origin, if it was published over HTTP. */
  get published(): PublishedFrom | undefined {
    return this.#rare.published
  }

  /** Its state if it is not active. */
  get lifecycle(): Lifecycle | undefined {
    const { ownLifecycle: own } = this.#rare
    const quarantinedBy = this.#quarantinedBy
    const rules = this.parent?.resource?.lifecycle?.matching(this.version)
    const isActive = own === undefined && rules === undefined && quarantinedBy.length === 0
    return isActive ? undefined : effectiveLifecycle({ own, rules, quarantinedBy })
  }

  /** A published version is on hold at once, although the controller records that a moment later. */
  get #quarantinedBy(): readonly QuarantineEntry[] {
    const { quarantinedBy } = this.#rare
    const isHeld = this.common.isNew && this.parent?.resource?.holdsUnscanned === true
    return isHeld && quarantinedBy.length === 0 ? unscanned : quarantinedBy
  }

  /** When its lifecycle changed, or when it was published, in seconds since 1970. */
  get lifecycleSince(): number {
    return this.#rare.lifecycleSince || this.publishedAt
  }

  /**
   * Whether lists of versions include it. CLIs request the list even if a lock file names the version. So lists include a
   * yanked version unless a newer version of its minor version is chosen instead.
   */
  get isListed(): boolean {
    if (!this.downloadable) return false
    return this.lifecycle?.state !== 'Yanked' || this.parent?.hasNewerActive(this.version) === true
  }

  /** SHA-256 in hexadecimal; undefined if it is missing or malformed. */
  get sha256(): string | undefined {
    const { digest } = this
    return digest === undefined ? undefined : Buffer.from(digest, 'latin1').toString('hex')
  }

  /** The location of the archive; undefined while it is unknown. */
  get location(): ArchiveLocation | undefined {
    const { common } = this
    return locationFrom(this.fileName, common, this.parent?.resource, common.parentName)
  }

  /** The location and the SHA-256 in hexadecimal of its documentation; undefined without documentation. */
  get docs(): { readonly location: ArchiveLocation; readonly sha256: string } | undefined {
    const { fileName, sha256, location, docsDigest } = this
    if (docsDigest === undefined || location === undefined) return undefined
    if (fileName === undefined || sha256 === undefined) return undefined
    return {
      location: { ...location, fileName: docsFileName(fileName, sha256) },
      sha256: Buffer.from(docsDigest, 'latin1').toString('hex'),
    }
  }

  /** Whether a CLI can install it: checksum, file name and backend are known, and the version is semver. */
  get downloadable(): boolean {
    // The reason of a duplicate needs a search.
    return !this.isDuplicate && this.unserved === undefined
  }

  /** The reason why it cannot be downloaded; undefined if it can. */
  get unserved(): Unserved | undefined {
    const { parent } = this
    if (!isSemver(this.version)) {
      const message = 'its version is not a semantic version: publish it under another one'
      return { reason: 'NotSemver', message }
    }
    if (parent === undefined) return parentMissing(this)
    if (this.isDuplicate) return duplicateOf(this, parent.originalOf(this))
    if (parent.displacedBy !== undefined) {
      return {
        reason: 'AddressTaken',
        message: `the address of ${this.kind} ${parent.name} is that of ${parent.displacedBy}, which was first: give one of them another name in its config`,
        by: parent.displacedBy,
      }
    }
    if (this.kind === 'Provider' && (this.os === undefined || this.arch === undefined)) {
      const message = 'it names no operatingSystem and architecture: set both in its spec'
      return { reason: 'NoPlatform', message }
    }
    const { lifecycle } = this
    if (lifecycle?.state === 'Quarantined') return quarantined(lifecycle)
    const { breaks, isBreakRefused } = this.#rare
    if (breaks !== undefined && isBreakRefused && this.digest === undefined) {
      return breakingChange(breaks)
    }
    if (this.fileName === undefined) {
      return { reason: 'NoFileName', message: 'it has no file name: set spec.fileName' }
    }
    if (!isPlainName(this.fileName, this.kind)) {
      const message = 'its file name holds what a file name may not: correct spec.fileName'
      return { reason: 'NoFileName', message }
    }
    if (this.location === undefined) {
      const message = 'neither it nor its parent has a storageConfig: set one in its parent'
      return { reason: 'NoStorage', message }
    }
    const incomplete = this.#releaseIncomplete(parent)
    if (incomplete !== undefined) return incomplete
    if (this.digest !== undefined) return undefined
    return { reason: 'NoDigest', message: this.#noDigest }
  }

  #releaseIncomplete(parent: ParentOfVersion): Unserved | undefined {
    const { openRelease } = this.#rare
    if (openRelease === undefined) return undefined
    const [counted, incomplete] = parent.memo(`incompleteReleases ${this.version}`, () => {
      const rows = parent.rowsOf(this.version).filter((row) => !row.isDuplicate)
      const parts = rows.map((row) => ({
        part: `${row.os}_${row.arch} ${row.sha256}`,
        open: row.#rare.openRelease,
        name: row.name,
      }))
      return [parts, incompleteReleases(parts)]
    })
    const lacking = incomplete.get(openRelease)
    return lacking && releaseIncomplete(lacking, takenText(openRelease, counted))
  }

  get #noDigest(): string {
    if (this.#rare.checksumMalformed)
      return 'its checksum is not a SHA-256 in base64 or hexadecimal: correct it'
    return this.syncStatus === ''
      ? 'its archive has not been synchronised yet, and it has no spec.upload.sha256: set that, or let a Depot fetch it'
      : `its archive has not been synchronised yet (${this.syncStatus})`
  }

  get state(): 'synced' | 'unsynced' | 'failed' | 'unservable' {
    if (!this.downloadable) return 'unservable'
    return this.health
  }

  /** Result of its last synchronisation, even if its archive is not served. */
  get health(): 'synced' | 'unsynced' | 'failed' {
    if (/failed|error/i.test(this.syncStatus)) return 'failed'
    return this.common.synced ? 'synced' : 'unsynced'
  }
}

/** A provider's file name is part of SHA256SUMS and of a CLI's cache. */
function isPlainName(fileName: string, kind: ParentKind): boolean {
  for (const character of fileName) {
    if (character < ' ' || character === '\u007f') return false
    if (kind === 'Provider' && (character === '/' || character === '\\')) return false
  }
  return true
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
