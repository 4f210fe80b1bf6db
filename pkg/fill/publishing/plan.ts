import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import { subjectOf } from '../../api/changes/changes.ts'
import type { ModuleComparison, ModuleDocs } from '../../api/docs/docs.ts'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveLimits,
  type ModuleArchive,
  normaliseModule,
  secretFilesIn,
  storedName,
} from '../../archives/archive/archive.ts'
import { compareModules } from '../../archives/compare/compare.ts'
import { type PackedDocs, packedDocs, unpackDocs } from '../../archives/docs/docs.ts'
import type { ArchivePlace, ArchiveStore } from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { Objects } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { docsOf } from './earlier-docs.ts'
import {
  conflictOf,
  grantedPlace,
  type PublishAddress,
  publishedAs,
  type Target,
  targetOf,
} from './target.ts'

export interface PublishContext {
  readonly objects: Objects
  readonly archives: ArchiveStore
  readonly limits: ArchiveLimits
  /** A folder for archives that are being processed. */
  readonly workDir: string
  readonly signal: AbortSignal
}

interface Asked {
  /** Path of a folder, or of an archive. */
  readonly file: string
  readonly address: PublishAddress
  readonly version: string
  /** Storage of a module that does not exist yet; undefined: it has to exist. */
  readonly storage: StorageConfig | undefined
  /** Files to publish although they look like secrets. */
  readonly allowed: readonly string[]
}

/** A packed version, and everything that is in its way. */
export interface Publication {
  readonly target: Target
  readonly place: ArchivePlace
  readonly archive: ModuleArchive
  /** Name of the archive in storage. */
  readonly fileName: string
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[]
  readonly docs: PackedDocs
  readonly interface: ModuleDocs
  /** Whether the version is published with these files already. */
  readonly isThere: boolean
  /** Undefined if there is no earlier version, or if it cannot be read. */
  readonly comparison: ModuleComparison | undefined
  /** The earlier version that cannot be read, and why. */
  readonly uncompared: { readonly from: string; readonly message: string } | undefined
  /** Whether callers break who rely on its number. */
  readonly isBroken: boolean
  /** Why it cannot be published. */
  readonly refusals: readonly FillError[]
}

const maxReasons = 3

/**
 * Packs a module and compares it with what is there. Nothing is stored.
 *
 * @param work receives the publication, whose archive is removed afterwards
 * @throws FillError, ArchiveError, or what the work throws
 */
export async function planPublication<T>(
  context: PublishContext,
  { file, address, version: spelled, storage, allowed }: Asked,
  work: (publication: Publication) => Promise<T>,
): Promise<T> {
  const { objects, limits, signal, workDir } = context
  const target = targetOf(objects, address, spelled, storage)
  const place = grantedPlace(context, target)
  const refusals = secretsRefused(await secretFilesIn({ file, limits, signal }), allowed)
  const into = join(workDir, randomUUID())
  try {
    let files: Publication['files'] = []
    let docs: PackedDocs | undefined
    const archive = await normaliseModule({
      file,
      into,
      format: target.config.fileFormat === 'zip' ? 'zip' : 'tar.gz',
      limits,
      signal,
      visit: async (module) => {
        files = module.files.map(({ path, sizeBytes }) => ({ path, sizeBytes }))
        docs = await packedDocs(module.files, module.read)
      },
    })
    if (docs === undefined) throw new TypeError('a normalised module has no documentation')
    const { version, config } = target
    const { sha256, extension } = archive
    const fileName = storedName(`${config.name}-${version}`, `-${sha256.slice(0, 12)}${extension}`)
    const isThere = publishedAs(target, archive) !== undefined
    const after = await unpackDocs(docs.bytes)
    const { refusal, ...compared } = isThere ? unlike : await compare(context, target, after)
    const back = isThere ? undefined : backRefused(target)
    const more = [conflictOf(target, archive), back, refusal].filter((one) => one !== undefined)
    return await work({
      target,
      place,
      archive,
      fileName,
      files,
      docs,
      interface: after,
      isThere,
      ...compared,
      refusals: [...refusals, ...more],
    })
  } finally {
    await rm(into, { force: true })
  }
}

/** @throws FillError SecretFile */
export async function requireNoSecrets(
  archive: Parameters<typeof secretFilesIn>[0],
  allowed: readonly string[],
): Promise<void> {
  const [refusal] = secretsRefused(await secretFilesIn(archive), allowed)
  if (refusal !== undefined) throw refusal
}

function secretsRefused(found: readonly string[], allowed: readonly string[]): FillError[] {
  const accepted = new Set(allowed.map((path) => path.replace(/^\.\//, '').replace(/\/$/, '')))
  const secrets = found.filter((path) => !accepted.has(path.replace(/\/$/, '')))
  if (secrets.length === 0) return []
  const shown = secrets.slice(0, 5).join(', ') + (secrets.length > 5 ? ', …' : '')
  const verb = secrets.length > 1 ? 'look like secrets or states' : 'looks like a secret or a state'
  const flag = `--allow-file=${secrets.join(',')}`
  return [
    new FillError(
      'SecretFile',
      `${shown} ${verb}: remove ${secrets.length > 1 ? 'them' : 'it'}, or accept with ${flag}`,
    ),
  ]
}

/** A line of versions goes forward, so that nobody gets an older state by taking a newer number. */
export function backRefused({ siblings, version }: Target): FillError | undefined {
  const known = siblings().flatMap((one) => semver.parse(one.version) ?? [])
  const wanted = new semver.SemVer(version)
  const line = known.filter(({ major, minor }) => major === wanted.major && minor === wanted.minor)
  const rivals = line.length > 0 ? line : known.filter(({ major }) => major === wanted.major)
  const newest = rivals.toSorted(semver.rcompare)[0]
  if (newest === undefined || newest.compare(wanted) <= 0) return undefined
  return new FillError(
    'OlderVersion',
    `${version} is before ${newest.version}, which is published: publish ${newest.inc('patch').version} or later`,
  )
}

interface Compared extends Pick<Publication, 'comparison' | 'uncompared' | 'isBroken'> {
  readonly refusal?: FillError | undefined
}

const unlike: Compared = { comparison: undefined, uncompared: undefined, isBroken: false }

/** Compares with the newest stable version before this one. */
async function compare(
  context: PublishContext,
  target: Target,
  after: ModuleDocs,
): Promise<Compared> {
  const { version, config, siblings } = target
  const wanted = new semver.SemVer(version)
  const earlier = siblings()
    .flatMap((sibling) => {
      const number = semver.parse(sibling.version)
      const isBefore = number !== null && number.prerelease.length === 0
      return isBefore && number.compare(wanted) < 0 ? [{ sibling, number }] : []
    })
    .toSorted((a, b) => semver.rcompare(a.number, b.number))[0]
  if (earlier === undefined) return unlike
  const { number, sibling } = earlier
  const isPromised = number.major === wanted.major && wanted.major > 0
  const isEnforced = isPromised && config.versionPolicy === 'Enforce'
  try {
    const before = await docsOf(context, target, sibling)
    const comparison = compareModules(before, after, { from: number.version, to: version })
    const isBroken = isPromised && comparison.verdict === 'breaking'
    if (!isEnforced || !isBroken) return { ...unlike, comparison, isBroken }
    const reasons = comparison.changes
      .filter(({ verdict }) => verdict === 'breaking')
      .slice(0, maxReasons)
      .map((change) => `${subjectOf(change)}: ${change.why}`)
    const message = `breaks callers of ${number.version}: ${reasons.join(' ')} Publish it as ${wanted.major + 1}.0.0`
    const refusal = new FillError('BreakingChange', message)
    return { ...unlike, comparison, isBroken, refusal }
  } catch (error) {
    context.signal.throwIfAborted()
    const uncompared = { from: number.version, message: messageOf(error) }
    if (!isEnforced) return { ...unlike, uncompared }
    const message = `cannot be compared with ${number.version}, as versionPolicy Enforce requires: ${uncompared.message}`
    const refusal = new FillError('BreakingChange', message, { cause: error })
    return { ...unlike, uncompared, refusal }
  }
}
