import { normalizeVersion, type ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { Signer } from '../../archives/signing/signing.ts'
import { notFound, RegistryError } from '../../base/errors/errors.ts'
import { ReadyAnswer } from '../../base/serving/serving.ts'
import {
  type Catalog,
  compareText,
  heldBackText,
  type Parent,
  type VersionRow,
} from '../catalog/catalog.ts'

/** A request for a version that a policy holds back. Whoever answers with this error counts the request. */
export class HeldBackRefusal extends RegistryError {
  readonly count: () => void

  constructor(message: string, count: () => void) {
    super('Forbidden', message)
    this.count = count
  }
}

/** The answer if something does not exist, or the caller may not see it. */
export function absent(kind: ParentKind, namespace: string, name: string): RegistryError {
  return notFound(
    kind === 'Module'
      ? `module ${namespace}/${name} not found: check its namespace and name, and that it exists as a Module`
      : `provider ${namespace}/${name} not found: check its namespace and type, and that it exists as a Provider`,
  )
}

/** Says why there is no module at an address. A module that names no system answers to any. */
export function noModule(
  catalog: Catalog,
  { namespace, name, system }: Record<'namespace' | 'name' | 'system', string>,
): never {
  const own = catalog.parentAt('Module', namespace, name)?.resource?.system
  if (own === undefined) throw absent('Module', namespace, name)
  throw notFound(
    `module ${namespace}/${name} is for ${own}, not for ${system}: use ${namespace}/${name}/${own}`,
  )
}

/** The row of a module's version that can be downloaded, or 404; 410 if it was withdrawn. */
export function findModuleVersion(module: Parent, version: string): VersionRow {
  const rows = module.rowsOf(version)
  const row = rows.find((candidate) => candidate.downloadable)
  return row ?? noArchive(module, version, rows)
}

/** The latest version of a module or provider, or 404; 410 if all were withdrawn. */
export function latestVersionOf(parent: Parent, { model }: Pick<Catalog, 'model'>): string {
  const { kind, namespace, name, versions } = parent
  const latest = model.find(model.views.all, kind, namespace, name)?.summary.latestVersion
  if (latest !== undefined) return latest
  const subject = `${kind.toLowerCase()} ${namespace}/${name}`
  for (const row of versions) refuseWithdrawn(subject, row.version, [row])
  throw notFound(`${subject} has no version: see its conditions`)
}

export function noProvider({ namespace, type }: Record<'namespace' | 'type', string>): never {
  throw absent('Provider', namespace, type)
}

/** A version of a provider, or 404; 410 if it was withdrawn. */
export function findRelease(provider: Parent, version: string): Release {
  const release = releaseOf(provider, version)
  if (release !== undefined) return release
  return noArchive(provider, version, provider.rowsOf(version))
}

/** The row of one platform, or 404 with the existing platforms. @param rows at least one */
export function findPlatform(rows: readonly VersionRow[], os: string, arch: string): VersionRow {
  const isAsked = (candidate: VersionRow) => candidate.os === os && candidate.arch === arch
  const row = rows.find(isAsked)
  if (row !== undefined) return row
  const { version, namespace, parent } = rows[0] as VersionRow
  const address = `provider ${namespace}/${parent?.name}`
  refuseWithdrawn(address, version, parent?.rowsOf(version).filter(isAsked) ?? [])
  throw notFound(
    `version ${version} of ${address} is not built for ${os}/${arch}, only for ${platformNames(rows)}`,
  )
}

/** `linux/amd64, linux/arm64` */
export function platformNames(rows: readonly VersionRow[]): string {
  return rows.map((row) => `${row.os}/${row.arch}`).join(', ')
}

function noArchive(parent: Parent, version: string, rows: readonly VersionRow[]): never {
  const address = `${parent.kind.toLowerCase()} ${parent.namespace}/${parent.name}`
  // Even if it has a Version that is not stored, for its signer or because it breaks callers.
  refuseHeldBack(parent, address, version)
  if (rows[0] === undefined) {
    throw notFound(`${address} has no version ${version}: see its list of versions`)
  }
  refuseWithdrawn(address, version, rows)
  throw notFound(
    `version ${version} of ${address} cannot be downloaded yet: ${rows[0].unserved?.message}`,
  )
}

/** CLIs print the body of a 410. They take 403 for a problem with credentials, and 404 for a missing platform. */
function refuseWithdrawn(address: string, version: string, rows: readonly VersionRow[]): void {
  const withdrawn = rows.find((row) => row.unserved?.reason === 'Quarantined')
  if (withdrawn === undefined) return
  throw new RegistryError(
    'Gone',
    `version ${version} of ${address} cannot be downloaded: ${withdrawn.unserved?.message}`,
  )
}

function refuseHeldBack(parent: Parent, address: string, version: string): void {
  const isIt = (one: { readonly version: string }) => normalizeVersion(one.version) === version
  const held = parent.resource?.heldBack.find(isIt)
  if (held === undefined) return
  throw new HeldBackRefusal(`version ${version} of ${address} is ${heldBackText(held)}`, () =>
    parent.refuse(held.version),
  )
}

/** @throws RegistryError NotConfigured if the operator gave no key */
export function requireSigner(signer: Signer | undefined): Signer {
  if (signer !== undefined) return signer
  throw new RegistryError(
    'NotConfigured',
    'signing metadata not configured: start the server with --gpg-private-key-path (server.gpg.secretName of the chart) to serve providers',
  )
}

const textHeaders = { 'Content-Type': 'text/plain; charset=utf-8' }

/** One version of a provider with its downloadable platforms, at least one. */
export class Release {
  readonly platforms: readonly VersionRow[]
  #shasums: ReadyAnswer | undefined

  constructor(platforms: readonly VersionRow[]) {
    this.platforms = platforms
  }

  /** SHA256SUMS. */
  shasums(facts: ReadyAnswer['facts']): ReadyAnswer {
    this.#shasums ??= new ReadyAnswer(this.sumLines, textHeaders, facts)
    return this.#shasums
  }

  /**
   * In the format of sha256sum, ordered by file name. Digests of other platforms that upstream has follow, so that
   * a lock file that is made here is valid on those platforms.
   */
  get sumLines(): string {
    const served = this.platforms
      .toSorted((a, b) => compareText(a.fileName, b.fileName))
      .map((row) => `${row.sha256}  ${row.fileName}\n`)
    return [...served, ...this.#otherLines()].join('')
  }

  #otherLines(): string[] {
    const own = new Set(this.platforms.map(({ sha256 }) => sha256))
    const all = new Set(this.platforms.flatMap(({ releaseDigests }) => releaseDigests))
    return [...all]
      .filter((sha256) => !own.has(sha256))
      .map((sha256) => `${sha256}  other-platform-${sha256.slice(0, 12)}.zip\n`)
  }
}

/** An existing release. It is the same object until the provider or one of its Versions changes. */
export function releaseOf(provider: Parent, version: string): Release | undefined {
  const releases = provider.memo('releases', () => new Map<string, Release>())
  const known = releases.get(version)
  if (known !== undefined) return known
  const platforms = onePerPlatform(provider.rowsOf(version))
  if (platforms.length === 0) return undefined
  const release = new Release(platforms)
  releases.set(version, release)
  return release
}

export function onePerPlatform(rows: readonly VersionRow[]): VersionRow[] {
  const platforms = new Map<string, VersionRow>()
  for (const row of rows) {
    const platform = `${row.os}/${row.arch}`
    if (row.downloadable && !platforms.has(platform)) platforms.set(platform, row)
  }
  return [...platforms.values()]
}
