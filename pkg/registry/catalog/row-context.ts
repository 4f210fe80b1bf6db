import {
  normalizeVersion,
  type ParentKind,
  parentRefOf,
  placeOfVersion,
  type ScanSummary,
  type StorageConfig,
  sha256Bytes,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import type { FindingTable } from './findings.ts'

/** A scanner, and the database that it used. */
type ScannedBy = Pick<ScanSummary, 'scanner' | 'database'>

/** Fields that siblings of the same platform and state share in one object. */
export interface Common {
  readonly namespace: string
  readonly kind: ParentKind
  /** @see VersionRow.parentName */
  readonly parentName: string | undefined
  /** @see VersionRow.ownerUid */
  readonly ownerUid: string | undefined
  readonly system: string | undefined
  /** Prefix of the version in the tag of a module's archive; undefined if no tag is known. */
  readonly tagPrefix: string | undefined
  readonly os: string | undefined
  readonly arch: string | undefined
  readonly protocols: readonly string[] | undefined
  readonly storage: StorageConfig | undefined
  readonly configName: string | undefined
  readonly sourceScannedBy: ScannedBy | undefined
  readonly binaryScannedBy: ScannedBy | undefined
  /** Whether it was published, and neither a controller nor a scanner has processed it yet. */
  readonly isNew: boolean
  readonly synced: boolean
  readonly syncStatus: string
}

/** Number of remembered objects. Few are enough, because siblings are neighbours in a list. */
const maxCommons = 4096

/** Maximum length of a key. Longer keys hardly repeat, and would fill the memory. */
const maxKeyLength = 1_000

/** A line for each platform, which every Version of a release repeats. Siblings are neighbours in a list. */
const maxReleases = 256
const maxReleaseLength = 20_000

/**
 * Returns one object for equal values, so that a thousand rows with `linux` share one string. When it is full, it forgets all
 * values and only loses sharing.
 */
export class Interner<T> {
  readonly #values: CappedMap<string, T>
  readonly #maxLength: number

  /** @param capacity number of values to remember, default 100,000 */
  constructor(capacity = 100_000, maxLength = maxKeyLength) {
    this.#values = new CappedMap(capacity)
    this.#maxLength = maxLength
  }

  get(key: string, create: () => T): T {
    const known = this.#values.get(key)
    if (known !== undefined) return known
    const created = create()
    if (key.length <= this.#maxLength) this.#values.set(key, created)
    return created
  }
}

/** Stores values once that many rows have. */
export class RowContext {
  readonly findings: FindingTable
  readonly #strings = new Interner<string>()
  readonly #shared = new Interner<object>()
  readonly #commons = new Interner<Common>(maxCommons)
  readonly #releases = new Interner<string>(maxReleases, maxReleaseLength)

  constructor(findings: FindingTable) {
    this.findings = findings
  }

  string(value: string): string
  string(value: string | undefined): string | undefined
  string(value: string | undefined): string | undefined {
    return value === undefined ? undefined : this.#strings.get(value, () => value)
  }

  /** @param text the platforms of a release */
  release(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.#releases.get(text, () => text)
  }

  /** @param known the value of the previous row, which may be equal */
  common(common: Common, known: Common | undefined): Common {
    const key = JSON.stringify(common)
    if (known !== undefined && JSON.stringify(known) === key) return known
    return this.#commons.get(key, () => ({
      ...common,
      namespace: this.string(common.namespace),
      parentName: this.string(common.parentName),
      ownerUid: this.string(common.ownerUid),
      configName: this.string(common.configName),
      storage: this.shared(common.storage),
      syncStatus: this.string(common.syncStatus),
    }))
  }

  /** Equal values are the same object. */
  shared<T extends object | undefined>(value: T): T {
    return value && (this.#shared.get(JSON.stringify(value), () => value) as T)
  }
}

/** Fields that many Versions have in common. */
export function commonOf(version: Version): Common {
  const { metadata, spec, status } = version
  const ref = parentRefOf(version)
  const isProvider = spec.type === 'Provider'
  return {
    namespace: metadata.namespace,
    kind: spec.type,
    parentName: ref?.name,
    ownerUid: ref?.owned === true ? ref.uid : undefined,
    system: spec.moduleConfigRef?.provider,
    tagPrefix: tagPrefixOf(version),
    os: isProvider ? spec.operatingSystem : undefined,
    arch: isProvider ? spec.architecture : undefined,
    protocols: spec.protocols ?? spec.providerConfigRef?.protocols,
    ...placeOfVersion(version),
    sourceScannedBy: by(isProvider ? status?.dependencyScan : status?.scan),
    binaryScannedBy: isProvider ? by(status?.scan) : undefined,
    isNew: isNew(version),
    // A Version that was published by its digest is in sync without a status of a controller.
    synced: status?.synced ?? spec.upload?.sha256 !== undefined,
    syncStatus: status?.syncStatus ?? '',
  }
}

const by = (scan: ScanSummary | undefined): Common['sourceScannedBy'] =>
  scan && { scanner: scan.scanner, database: scan.database }

/** Neither a controller nor a scanner has processed what was published. */
const isNew = ({ spec: { upload }, status }: Version): boolean =>
  upload !== undefined &&
  status?.artifact === undefined &&
  status?.scan?.sha256 !== sha256Hex(upload.sha256)

/** A tag with another spelling of the version counts as unknown. */
function tagPrefixOf({ spec, status }: Version): string | undefined {
  const [, tag] = /^(.+)@sha\d+:/.exec(status?.artifact?.revision ?? '') ?? []
  const version = normalizeVersion(spec.version)
  return tag?.endsWith(version) ? tag.slice(0, tag.length - version.length) : undefined
}

/** A SHA-256 as 32 characters, which takes half the memory. @param checksum base64 or hexadecimal */
export function digestOf(checksum: string): string | undefined {
  return sha256Bytes(checksum)?.toString('latin1')
}
