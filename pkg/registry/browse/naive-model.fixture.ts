import type {
  Depot,
  GroupBinding,
  Module,
  Namespace,
  ParentKind,
  Provider,
  Resource,
  SecurityFinding,
  StorageConfig,
  Version,
} from '../../api/v1alpha1/v1alpha1.ts'

/*
 * The contents of the registry, read by plain loops over the objects: slow, simple, and without code of the catalog that it
 * checks.
 */

export interface World {
  readonly objects: readonly Resource[]
  readonly downloads: readonly {
    readonly kind: ParentKind
    readonly namespace: string
    readonly name: string
    readonly version: string
    readonly os?: string | undefined
    readonly arch?: string | undefined
    readonly count: number
    readonly lastAt: number
  }[]
}

export type Viewer = 'all' | 'public' | GroupBinding['spec']
export type Owner = Module | Provider

const publicLabel = 'depot.internal/public'
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$/

const text = (a = '', b = '') => (a === b ? 0 : a < b ? -1 : 1)

export function numberOf(version: Version): string {
  const trimmed = version.spec.version.trim()
  return /^v[0-9]/i.test(trimmed) ? trimmed.substring(1) : trimmed
}

/** Compares ascending by the rules of semver.org. Build metadata does not count. */
export function precedence(left: string, right: string): number {
  const [a, b] = [semver.exec(left), semver.exec(right)]
  if (!a || !b) return a ? 1 : b ? -1 : text(right, left)
  for (const part of [1, 2, 3]) {
    const difference = Number(a[part]) - Number(b[part])
    if (difference !== 0) return difference
  }
  if (a[4] === undefined || b[4] === undefined) return a[4] === b[4] ? 0 : a[4] ? -1 : 1
  const [as, bs] = [a[4].split('.'), b[4].split('.')]
  for (let index = 0; index < Math.max(as.length, bs.length); index += 1) {
    const [x, y] = [as[index], bs[index]]
    if (x === y) continue
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1
    const [xNumber, yNumber] = [/^\d+$/.test(x), /^\d+$/.test(y)]
    if (xNumber && yNumber) return Number(x) - Number(y)
    if (xNumber !== yNumber) return xNumber ? -1 : 1
    return text(x, y)
  }
  return 0
}

const buildOf = (version: string) => version.split('+')[1] ?? ''

export class NaiveModel {
  readonly #world: World
  /** Computed once for each owner, because this order is needed most. */
  readonly #versions = new Map<Owner, Version[]>()

  constructor(world: World) {
    this.#world = { ...world, objects: world.objects.map(withServedScans) }
  }

  #all<K extends Resource['kind']>(kind: K): Extract<Resource, { kind: K }>[] {
    return this.#world.objects.filter((object) => object.kind === kind) as Extract<
      Resource,
      { kind: K }
    >[]
  }

  publicNamespaces(): string[] {
    return this.#all('Namespace')
      .filter((namespace: Namespace) => namespace.metadata.labels[publicLabel] === 'true')
      .map((namespace) => namespace.metadata.name)
      .toSorted(text)
  }

  isPublic({ metadata }: Owner | Depot): boolean {
    return (
      metadata.labels[publicLabel] === 'true' &&
      this.publicNamespaces().includes(metadata.namespace)
    )
  }

  sees(viewer: Viewer, owner: Owner): boolean {
    return this.isPublic(owner) || this.allowsName(viewer, owner.kind, owner.metadata.name)
  }

  allowsName(viewer: Viewer, kind: ParentKind, name: string): boolean {
    if (viewer === 'all') return true
    if (viewer === 'public') return false
    const { moduleResources = [], providerResources = [] } = viewer
    if (kind === 'Module') return moduleResources.some((glob) => matches(glob, name))
    return providerResources.some((type) => type === '*' || type === name)
  }

  owners(viewer: Viewer): Owner[] {
    return [...this.#all('Module'), ...this.#all('Provider')].filter((owner) =>
      this.sees(viewer, owner),
    )
  }

  depots(viewer: Viewer, namespace: string | null): Depot[] {
    return this.#all('Depot')
      .filter((depot) => namespace === null || depot.metadata.namespace === namespace)
      .filter((depot) => viewer !== 'public' || this.isPublic(depot))
      .toSorted(
        (a, b) =>
          text(a.metadata.namespace, b.metadata.namespace) ||
          text(a.metadata.name, b.metadata.name),
      )
  }

  /** Newest first, then by platform and name. */
  versions(owner: Owner): Version[] {
    const known = this.#versions.get(owner)
    if (known !== undefined) return known
    const versions = this.#all('Version')
      .filter((version) => version.spec.type === owner.kind)
      .filter((version) => version.metadata.namespace === owner.metadata.namespace)
      .filter((version) => this.#ownerName(version) === owner.metadata.name)
      .toSorted(
        (a, b) =>
          precedence(numberOf(b), numberOf(a)) ||
          compareBuild(buildOf(numberOf(b)), buildOf(numberOf(a))) ||
          text(a.spec.operatingSystem, b.spec.operatingSystem) ||
          text(a.spec.architecture, b.spec.architecture) ||
          byAge(a, b),
      )
    this.#versions.set(owner, versions)
    return versions
  }

  #ownerName({ metadata, spec }: Version): string | undefined {
    const owner = metadata.ownerReferences.find((reference) => reference.kind === spec.type)
    if (owner !== undefined) return owner.name
    const config = spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
    const near = (this.#all(spec.type) as Owner[])
      .filter((other) => other.metadata.namespace === metadata.namespace)
      .filter((other) => fits(systemOf(other), spec.moduleConfigRef?.provider))
    if (near.some((other) => other.metadata.name === config?.name)) return config?.name
    const called = near.filter((other) => nameOf(other) === config?.name)
    return called.length === 1 ? called[0]?.metadata.name : undefined
  }

  storageOf(owner: Owner): StorageConfig | undefined {
    const own = configOf(owner).storageConfig
    if (own !== undefined) return own
    for (const { spec } of this.versions(owner)) {
      const config = spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
      if (config?.storageConfig !== undefined) return config.storageConfig
    }
    return undefined
  }

  latest(owner: Owner): string | undefined {
    const claimed = owner.status?.latestVersion?.trim().replace(/^v(?=\d)/i, '')
    const originals = this.versions(owner).filter(
      (version) => semver.test(numberOf(version)) && this.isFirst(version, owner),
    )
    const isWithdrawn = (version: Version) =>
      ['Yanked', 'Quarantined'].includes(this.#stateOf(version))
    const versions = originals.filter((version) => !isWithdrawn(version))
    const ofClaim = (all: readonly Version[]) =>
      all.filter((version) => numberOf(version) === claimed)
    if (
      ofClaim(versions).some((version) => this.#isInstallable(version, owner)) ||
      (ofClaim(versions).length > 0 && !ofClaim(originals).some(isWithdrawn))
    ) {
      return claimed
    }
    const installable = versions.filter((version) => this.#isInstallable(version, owner))
    const stable = installable.find((version) => semver.exec(numberOf(version))?.[4] === undefined)
    const best = stable ?? installable[0] ?? versions[0]
    return best && numberOf(best)
  }

  #stateOf(version: Version): string {
    return this.lifecycle(version)?.state ?? 'Active'
  }

  /** Rules in these tests are exact versions or lower bounds of releases. */
  lifecycle(version: Version) {
    const { spec, status, metadata } = version
    const parent = this.#ownerName(version)
    const owner = parent && this.find(spec.type, metadata.namespace, parent)
    const number = numberOf(version)
    const release = semver.exec(number)
    const rules = (owner ? (owner.spec.lifecycle ?? []) : []).filter(({ versions }) => {
      if (release === null) return false
      if (!versions.startsWith('>= ')) return precedence(number, versions) === 0
      return release[4] === undefined && precedence(number, versions.slice(3)) >= 0
    })
    const [entry] = status?.quarantinedBy ?? []
    const all = [spec.lifecycle, ...rules].filter((one) => one !== undefined)
    const { state, replacedBy } =
      all.find((one) => one.state === 'Quarantined') ??
      (entry && { state: 'Quarantined', replacedBy: undefined }) ??
      all[0] ??
      {}
    return state === undefined || state === 'Active' ? undefined : { state, replacedBy }
  }

  /** Whether no older Version is the same archive. */
  isFirst(version: Version, owner: Owner): boolean {
    return !this.versions(owner).some(
      (other) => isSameArchive(other, version) && byAge(other, version) < 0,
    )
  }

  #isInstallable(version: Version, owner: Owner): boolean {
    const { spec, status } = version
    const config = spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
    const isPlaced = (config?.storageConfig ?? configOf(owner).storageConfig) !== undefined
    const isNamed = (status?.artifact?.fileName ?? spec.fileName) !== undefined
    const hasPlatform = spec.operatingSystem !== undefined && spec.architecture !== undefined
    return (
      this.isFirst(version, owner) &&
      this.#stateOf(version) !== 'Quarantined' &&
      !this.#isDisplaced(owner) &&
      isPlaced &&
      isNamed &&
      checksumOf(version) !== undefined &&
      (owner.kind === 'Module' || hasPlatform)
    )
  }

  /** The owner by its config: the one with that name, otherwise the oldest with an equal config. */
  #holder(owner: Owner): { readonly owner: Owner; readonly isNamed: boolean } {
    const near = (this.#all(owner.kind) as Owner[]).filter(
      (other) => other.metadata.namespace === owner.metadata.namespace,
    )
    const [name, system] = [nameOf(owner), systemOf(owner)]
    const has = (other: Owner) =>
      systemOf(other) === undefined || (system !== undefined && systemOf(other) === system)
    const named = near.find((other) => other.metadata.name === name)
    if (named !== undefined && has(named)) return { owner: named, isNamed: true }
    const same = near.filter((other) => nameOf(other) === name && has(other)).toSorted(byAge)
    return { owner: same[0] ?? owner, isNamed: false }
  }

  /** Why a Version cannot be downloaded, and what is served instead. */
  whyNotVersion(version: Version): Why | undefined {
    const { spec, status } = version
    if (!semver.test(numberOf(version))) return { reason: 'NotSemver' }
    const parent = this.#ownerName(version)
    const owner =
      parent === undefined ? undefined : this.find(spec.type, version.metadata.namespace, parent)
    if (owner === undefined) return { reason: 'ParentMissing' }
    const original = this.versions(owner).find((other) => isSameArchive(other, version))
    if (original !== undefined && original !== version) {
      return { reason: 'Duplicate', servedInstead: original.metadata.name }
    }
    if (this.#isDisplaced(owner)) return this.whyNotOwner(owner)
    const isPlatform = spec.operatingSystem !== undefined && spec.architecture !== undefined
    if (owner.kind === 'Provider' && !isPlatform) return { reason: 'NoPlatform' }
    if (this.#stateOf(version) === 'Quarantined') return { reason: 'Quarantined' }
    const isRefused = status?.conditions?.some(({ reason }) => reason === 'BreakingChange')
    if (breaksOf(version) && isRefused && checksumOf(version) === undefined) {
      return { reason: 'BreakingChange' }
    }
    if ((status?.artifact?.fileName ?? spec.fileName) === undefined) return { reason: 'NoFileName' }
    const config = spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
    const storage = config?.storageConfig ?? configOf(owner).storageConfig
    if (storage === undefined) return { reason: 'NoStorage' }
    return checksumOf(version) === undefined ? { reason: 'NoDigest' } : undefined
  }

  /** Why a resource does not get the address of its config. */
  whyNotOwner(owner: Owner): Why | undefined {
    const holder = this.#holder(owner).owner
    if (holder === owner) return undefined
    return { reason: 'AddressTaken', servedInstead: holder.metadata.name }
  }

  isDisplaced(owner: Owner): boolean {
    return this.#isDisplaced(owner)
  }

  /** Versions without a parent that a viewer may see. */
  orphans(viewer: Viewer): Version[] {
    return this.#all('Version').filter((version) => {
      const name = this.#ownerName(version)
      const { namespace } = version.metadata
      const isAlone =
        name === undefined || this.find(version.spec.type, namespace, name) === undefined
      return isAlone && this.allowsName(viewer, version.spec.type, parentNameOf(version) ?? '')
    })
  }

  /** Owners that claim an address, or have it by their name. */
  claims(viewer: Viewer, kind: ParentKind, namespace: string, name: string, system?: string) {
    return this.owners(viewer).filter(
      (owner) =>
        owner.kind === kind &&
        owner.metadata.namespace === namespace &&
        fits(systemOf(owner), system) &&
        (nameOf(owner) === name || owner.metadata.name === name),
    )
  }

  /** Whether an older owner has its address, and neither has it by its own name. */
  #isDisplaced(owner: Owner): boolean {
    const holder = this.#holder(owner)
    return holder.owner !== owner && !holder.isNamed
  }

  address(owner: Owner): string {
    const own = this.#holder(owner).owner === owner ? nameOf(owner) : owner.metadata.name
    return owner.kind === 'Provider' ? own : `${own}/${systemOf(owner) ?? 'generic'}`
  }

  /** Downloads of one archive, of one version, or of everything that ever existed. */
  downloads(owner: Owner, only: (one: World['downloads'][number]) => boolean = () => true) {
    let [count, lastAt] = [0, 0]
    for (const one of this.#world.downloads) {
      const isOwn =
        one.kind === owner.kind &&
        one.namespace === owner.metadata.namespace &&
        one.name === owner.metadata.name
      if (!isOwn || !only(one)) continue
      count += one.count
      lastAt = Math.max(lastAt, one.lastAt)
    }
    return { count, lastAt }
  }

  find(kind: ParentKind, namespace: string, name: string): Owner | undefined {
    return (this.#all(kind) as Owner[]).find(
      (owner) => owner.metadata.namespace === namespace && owner.metadata.name === name,
    )
  }
}

export interface Why {
  readonly reason: string
  readonly servedInstead?: string
}

/** The name of the parent that a Version asks for. */
export function parentNameOf({ metadata, spec }: Version): string | undefined {
  const owner = metadata.ownerReferences.find((reference) => reference.kind === spec.type)
  const config = spec.type === 'Module' ? spec.moduleConfigRef : spec.providerConfigRef
  return owner?.name ?? config?.name
}

export const nameOf = (owner: Owner): string => configOf(owner).name ?? owner.metadata.name

export const systemOf = (owner: Owner): string | undefined =>
  owner.kind === 'Module' ? owner.spec.moduleConfig.provider : undefined

const fits = (own: string | undefined, asked: string | undefined): boolean =>
  own === undefined || asked === undefined || own === asked

/** The older object first, then by name. */
const byAge = (a: Owner | Version, b: Owner | Version): number =>
  Date.parse(a.metadata.creationTimestamp) - Date.parse(b.metadata.creationTimestamp) ||
  text(a.metadata.name, b.metadata.name)

/** Whether both are the same version for the same platform. */
export const isSameArchive = (a: Version, b: Version): boolean =>
  numberOf(a) === numberOf(b) &&
  a.spec.operatingSystem === b.spec.operatingSystem &&
  a.spec.architecture === b.spec.architecture

function configOf(owner: Owner) {
  return owner.kind === 'Module' ? owner.spec.moduleConfig : owner.spec.providerConfig
}

export function health({ status }: Version): 'synced' | 'failed' | 'unsynced' {
  const words = (status?.syncStatus ?? '').toLowerCase()
  if (words.includes('failed') || words.includes('error')) return 'failed'
  return status?.synced === true ? 'synced' : 'unsynced'
}

/** The changes that break callers of the previous version. */
export function breaksOf({ spec, status }: Version) {
  const { verdict, from, reasons = [] } = status?.compared ?? {}
  return spec.type === 'Module' && verdict === 'breaking' ? { from, reasons } : undefined
}

/** Scans of another archive than the served one do not count. */
function withServedScans<T extends Resource>(object: T): T {
  if (object.kind !== 'Version') return object
  const served = checksumOf(object)
  const { scan } = object.status ?? {}
  if (scan === undefined || served === undefined || scan.sha256 === served) return object
  return { ...object, status: { ...object.status, sourceScan: undefined, binaryScan: undefined } }
}

/** Hexadecimal. */
export function checksumOf({ status }: Version): string | undefined {
  const given = status?.checksum
  if (given === undefined) return undefined
  if (given.length === 64) return given.toLowerCase()
  const bytes = Buffer.from(given, 'base64')
  return bytes.length === 32 ? bytes.toString('hex') : undefined
}

export const ranks = ['critical', 'high', 'medium', 'low', 'unknown'] as const

function rank(finding: SecurityFinding): number {
  const index = ranks.indexOf(finding.severity.toLowerCase() as 'critical')
  return index === -1 ? 4 : index
}

/** Each vulnerability of a package once: its worst finding, in the position of the first. */
export function distinct(findings: readonly SecurityFinding[]): SecurityFinding[] {
  const result: SecurityFinding[] = []
  for (const finding of findings) {
    const index = result.findIndex(
      (other) =>
        other.vulnerabilityID === finding.vulnerabilityID &&
        other.pkgName === finding.pkgName &&
        other.installedVersion === finding.installedVersion,
    )
    if (index === -1) result.push(finding)
    else if (rank(finding) < rank(result[index] as SecurityFinding)) result[index] = finding
  }
  return result
}

export function allFindings(version: Version): SecurityFinding[] {
  const { sourceScan, binaryScan } = version.status ?? {}
  return [...(sourceScan?.findings ?? []), ...(binaryScan?.findings ?? [])]
}

function isScanned({ status }: Version): boolean {
  return status?.sourceScan !== undefined || status?.binaryScan !== undefined
}

export function counts(versions: readonly Version[]) {
  if (!versions.some(isScanned)) return undefined
  const result = { critical: 0, high: 0, medium: 0, low: 0, unknown: 0 }
  for (const finding of distinct(versions.flatMap(allFindings))) {
    result[ranks[rank(finding)] as 'critical'] += 1
  }
  return result
}

export function backendName(storage: StorageConfig | undefined): string | undefined {
  if (storage?.s3) return 's3'
  if (storage?.azureStorage) return 'azure'
  if (storage?.gcs) return 'gcs'
  return storage?.fileSystem && 'filesystem'
}

/** Tests use only stars and question marks. */
function matches(glob: string, name: string): boolean {
  const pattern = glob
    .replaceAll(/[.+^${}()|\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.')
  return new RegExp(`^${pattern}$`).test(name)
}

/** Compares two prerelease parts. */
function compareBuild(a: string, b: string): number {
  if (a === b) return 0
  if (a === '' || b === '') return a === '' ? -1 : 1
  return precedence(`1.0.0-${a}`, `1.0.0-${b}`)
}
