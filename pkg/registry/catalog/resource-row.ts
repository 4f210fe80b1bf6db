import { type HeldWhy, whyHeld } from '../../api/held/held.ts'
import { LifecycleRules } from '../../api/lifecycle/lifecycle.ts'
import {
  configOfParent,
  holdsUnscanned,
  type ListingMemory,
  type Module,
  normalizeVersion,
  type ParentKind,
  type Provider,
  parentRefOf,
  placeOfVersion,
  type ScanSummary,
  type StorageConfig,
  sha256Bytes,
  sha256Hex,
  type Version,
} from '../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../base/errors/errors.ts'
import { CappedMap } from '../../base/memory/memory.ts'
import type { FindingTable } from './findings.ts'

/** Served fields of a Module or Provider. */
export class ResourceRow {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  readonly uid: string
  readonly revision: number
  /** Hash of the object's uid. */
  readonly identity: number
  /** Name in storage. Versions without an owner reference may use it to name their parent. */
  readonly configName: string
  readonly storage: StorageConfig | undefined
  /** Target system of a module; undefined for every system, and for providers. */
  readonly system: string | undefined
  /** Plugin protocols of a provider. */
  readonly protocols: readonly string[] | undefined
  /** The format of a module's archives, if their names do not tell it. */
  readonly fileFormat: 'zip' | 'tar' | undefined
  /** Directory of a module in its repository. */
  readonly sourcePath: string | undefined
  readonly labels: Readonly<Record<string, string>>
  /** URL of the source repository; undefined if it is unknown. */
  readonly repoUrl: string | undefined
  /** Address of a provider in its upstream registry, `host/namespace/type`; undefined without an upstream. */
  readonly upstreamAddress: string | undefined
  /** Claims of the object itself, normalised. */
  readonly latestVersion: string | undefined
  /** Its own status, independent of its Versions; undefined if it has none. */
  readonly synced: boolean | undefined
  /** Whether a person has to confirm that versions are removed. */
  readonly removalHeld: boolean
  /** The states of its versions; undefined if nobody wrote any. */
  readonly lifecycle: LifecycleRules | undefined
  /** Whether its versions wait for their first scan. */
  readonly holdsUnscanned: boolean
  /** Versions of its upstream that a policy holds back. */
  readonly heldBack: readonly HeldBackVersion[]
  /** Number of further held versions, which do not fit into the status. */
  readonly heldBackUnlisted: number
  /** @see Ranked */
  rank = 0
  generation = 0

  constructor(resource: Module | Provider, context: RowContext) {
    const { metadata } = resource
    const config = configOfParent(resource)
    this.kind = resource.kind
    this.namespace = metadata.namespace
    this.name = metadata.name
    this.uid = metadata.uid
    this.revision = revisionOf(metadata.resourceVersion)
    this.identity = identityOf(metadata.uid)
    this.configName = config.name ?? metadata.name
    this.storage = context.shared(config.storageConfig)
    this.system = resource.kind === 'Module' ? resource.spec.moduleConfig.provider : undefined
    this.protocols =
      resource.kind === 'Provider'
        ? context.shared(resource.spec.providerConfig.protocols)
        : undefined
    this.fileFormat = resource.kind === 'Module' ? resource.spec.moduleConfig.fileFormat : undefined
    this.sourcePath =
      resource.kind === 'Module' ? resource.spec.moduleConfig.source?.path : undefined
    this.labels = context.shared(metadata.labels)
    this.repoUrl = repoUrlOf(resource)
    this.upstreamAddress =
      resource.kind === 'Provider' ? resource.status?.upstreamAddress : undefined
    this.latestVersion =
      resource.status?.latestVersion && normalizeVersion(resource.status.latestVersion)
    this.synced = resource.status?.synced
    const { lifecycle = [] } = resource.spec
    this.lifecycle = lifecycle.length === 0 ? undefined : new LifecycleRules(lifecycle)
    this.holdsUnscanned = holdsUnscanned(config.scanPolicy)
    const { address = '', depot, heldBack = [], heldBackCount = 0 } = resource.status?.listing ?? {}
    this.heldBackUnlisted = Math.max(0, heldBackCount - heldBack.length)
    this.heldBack = context.shared(
      heldBack.map((entry) => ({ ...entry, why: whyHeld(entry), address, depot })),
    )
    this.removalHeld = (resource.status?.conditions ?? []).some(
      ({ type, status }) => type === 'RemovalHeld' && status === 'True',
    )
  }
}

/** The URL of the source repository. One that a person wrote takes precedence over one that Depot found. */
export function repoUrlOf(resource: Module | Provider): string | undefined {
  if (resource.kind === 'Provider') {
    const { spec, status } = resource
    return spec.providerConfig.sourceRepository ?? (status?.resolvedSourceRepository || undefined)
  }
  const { metadata, spec } = resource
  const { name = metadata.name, repoUrl, repoOwner, source } = spec.moduleConfig
  if (repoUrl !== undefined) return repoUrl
  if (source?.url !== undefined) {
    return source.type === 'github' || source.type === 'git' ? webPageOf(source.url) : undefined
  }
  if (repoOwner === undefined) return undefined
  const { apiUrl = 'https://api.github.com' } = spec.moduleConfig.githubClientConfig ?? {}
  const host = URL.parse(apiUrl)?.host.replace(/^api\./, '')
  return host && `https://${host}/${encodeURIComponent(repoOwner)}/${encodeURIComponent(name)}`
}

/** The web page of a repository. Its git URL may have the form `ssh://git@host/path.git` or `git@host:path.git`. */
function webPageOf(text: string): string | undefined {
  const [, host, path] = /^[\w.-]+@([\w.-]+):(?!\/\/)(.+)$/.exec(text) ?? []
  const url = URL.parse(host === undefined ? text : `ssh://${host}/${path ?? ''}`)
  if (url === null || !/^(?:https?|ssh):$/.test(url.protocol)) return undefined
  const isWeb = url.protocol !== 'ssh:'
  const page = url.pathname.replace(/\/+$/, '').replace(/\.git$/, '')
  return `${isWeb ? url.protocol : 'https:'}//${isWeb ? url.host : url.hostname}${page}`
}

/**
 * A hash that distinguishes objects of one name. It is shorter than the uid of 36 characters.
 *
 * @param uid of the object; empty if the source gives none
 */
export function identityOf(uid: string): number {
  let hash = 0
  for (let i = 0; i < uid.length; i += 1) hash = (Math.imul(hash, 31) + uid.charCodeAt(i)) | 0
  return hash
}

/**
 * A resourceVersion as a number, so that two of one kind can be compared. API servers count every write of the cluster, so an
 * object that was deleted and created again has a higher number.
 *
 * @returns NaN if the source does not number its revisions; NaN is neither older nor equal
 */
export function revisionOf(resourceVersion: string): number {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : Number.NaN
}

type Entry = NonNullable<ListingMemory['heldBack']>[number]

/** A version of an upstream that the policy of a Depot holds back. */
export interface HeldBackVersion extends Entry {
  readonly why: HeldWhy
  /** Host and path of its source, as exceptions name it. */
  readonly address: string
  /** The Depot with the policy, as `namespace/name`. */
  readonly depot: string | undefined
}

/**
 * Formats one line about a version that is held back: the policy, since when, and who may grant an exception. Tenants write
 * the reasons, and clients print them.
 *
 * @param maxReasonBytes the rest of the line is the remedy and is never cut
 */
export function heldBackText(held: HeldBackVersion, maxReasonBytes = 8192): string {
  const message = printable(held.message ?? '', maxReasonBytes)
  return printable(textOf({ ...held, message }), 16_384)
}

function textOf(held: HeldBackVersion): string {
  const { version, since, until, why, message = '', address, depot, by } = held
  const isHere = by === 'Installation'
  const of = isHere
    ? 'of the whole installation'
    : depot === undefined
      ? 'of its Depot'
      : `of Depot ${depot}`
  const place = isHere
    ? 'ask who runs this registry for an exception in the file of --upstream-policy'
    : 'name it in spec.policy.exceptions of the Depot'
  const except = `${place}: address ${address}, version ${version}`
  const from = since === undefined ? '' : ` since ${since}`
  const again = message === '' ? '' : ` (${message})`
  const age = since === undefined ? '' : `; its age counts from ${since}${again}`
  if (why === 'TooYoung') {
    return `held back until ${until}: it is too young for the policy ${of}${age}; to take it earlier, ${except}`
  }
  if (why === 'Breaking') {
    return `refused by versionPolicy of its module${from}: ${message}; to take it, set spec.acceptBreaking: true on its Version, or ask its publisher for a new major version`
  }
  // Exceptions have no effect on allow lists.
  const list = isHere
    ? 'ask who runs this registry for a rule of allow in the file of --upstream-policy'
    : 'add a rule to spec.policy.allow of the Depot'
  const change = isHere
    ? 'ask who runs this registry to change it'
    : 'change spec.policy.rule of the Depot'
  const unsigned = isHere
    ? 'ask its publisher to sign it, or who runs this registry to change requireSignature in the file of --upstream-policy'
    : 'ask its publisher to sign it, or change requireSignature in the policy of the Depot'
  const remedy = { Denied: except, Unsigned: unsigned, NotAllowed: list, Refused: change }[why]
  return `refused by the policy ${of}${from}: ${message}; to take it, ${remedy}`
}

/** Whether to show it to people. An allow list may exclude hundreds of versions for ever. */
export const isNews = ({ why }: Pick<HeldBackVersion, 'why'>) =>
  why === 'TooYoung' || why === 'Denied'

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
