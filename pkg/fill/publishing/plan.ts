import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import semver from 'semver'
import { changeText } from '../../api/changes/changes.ts'
import type { ModuleComparison, ModuleDocs } from '../../api/docs/docs.ts'
import { type PublishedBy, storedName } from '../../api/v1alpha1/v1alpha1.ts'
import {
  type ArchiveLimits,
  type ModuleArchive,
  normaliseModule,
  secretFilesIn,
} from '../../archives/archive/archive.ts'
import { compareModules } from '../../archives/compare/compare.ts'
import {
  docsProblems,
  type PackedDocs,
  packedDocs,
  problemText,
  unpackDocs,
} from '../../archives/docs/docs.ts'
import type { ArchivePlace, ArchiveStore } from '../../archives/storage/storage.ts'
import { messageOf } from '../../base/errors/errors.ts'
import { closest } from '../../base/options/options.ts'
import type { Clock, Slots } from '../../base/pacing/pacing.ts'
import type { Objects } from '../../records/store/store.ts'
import { FillError } from '../sources/sources.ts'
import { docsOf } from './earlier-docs.ts'
import {
  type ConfigOrigin,
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
  readonly clock: Clock
  /** Bounds how many modules are packed at once. Default: no bound. */
  readonly slots?: Slots
  /** The verified caller, for publications over HTTP. */
  readonly publisher?: PublishedBy
}

interface Asked extends ConfigOrigin {
  /** Path of a folder, or of an archive. */
  readonly file: string
  readonly address: PublishAddress
  readonly version: string
  /** Files to publish although they look like secrets or states, and no others. */
  readonly allowed: readonly string[]
}

/** A module as an archive. */
export interface PackedModule {
  readonly archive: ModuleArchive
  readonly files: readonly { readonly path: string; readonly sizeBytes: number }[]
  /** Files in it that look like secrets and are accepted. */
  readonly accepted: readonly string[]
  readonly docs: PackedDocs
  readonly interface: ModuleDocs
  /** Why it cannot be published. */
  readonly refusals: readonly FillError[]
}

/** How a version differs from the newest stable one before it. */
export interface ComparedVersion {
  /** Undefined if there is no earlier version, or if it cannot be read. */
  readonly comparison: ModuleComparison | undefined
  /** The earlier version that cannot be read, and why. */
  readonly uncompared: { readonly from: string; readonly message: string } | undefined
  /** Whether callers that rely on its number break. */
  readonly isBroken: boolean
}

/** A packed version, and all problems that prevent its publication. */
export interface Publication extends PackedModule, ComparedVersion {
  readonly target: Target
  readonly place: ArchivePlace
  /** Name of the archive in storage. */
  readonly fileName: string
  /** Whether the version is published with these files already. */
  readonly isThere: boolean
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
  { file, address, version: spelled, allowed, ...origin }: Asked,
  work: (publication: Publication) => Promise<T>,
): Promise<T> {
  const { objects } = context
  const target = targetOf(objects, address, spelled, origin)
  const place = grantedPlace(context, target)
  const format = target.config.fileFormat === 'zip' ? 'zip' : 'tar.gz'
  return packModule(context, { file, format, allowed }, async (packed) => {
    const { archive, interface: after, refusals } = packed
    const { version, config } = target
    const { sha256, extension } = archive
    const fileName = storedName(`${config.name}-${version}`, `-${sha256.slice(0, 12)}${extension}`)
    const isThere = publishedAs(target, archive) !== undefined
    const { refusal, ...compared } = isThere ? unlike : await compare(context, target, after)
    const back = isThere ? undefined : backRefused(target)
    const more = [conflictOf(target, archive), back, refusal].filter((one) => one !== undefined)
    return work({
      ...packed,
      target,
      place,
      fileName,
      isThere,
      ...compared,
      refusals: [...refusals, ...more],
    })
  })
}

/**
 * Packs a module and reads it.
 *
 * @param work receives the archive, which is removed afterwards
 * @throws FillError, ArchiveError, or what the work throws
 */
export async function packModule<T>(
  context: Pick<PublishContext, 'limits' | 'signal' | 'workDir' | 'slots'>,
  {
    file,
    format,
    allowed,
  }: Pick<Asked, 'file' | 'allowed'> & {
    readonly format: 'zip' | 'tar.gz'
  },
  work: (packed: PackedModule) => Promise<T>,
): Promise<T> {
  const { limits, signal, workDir, slots } = context
  const into = join(workDir, randomUUID())
  const pack = async (): Promise<PackedModule> => {
    const secrets = await secretFilesIn({ file, limits, signal })
    const refusals = secretsRefused(secrets, allowed)
    let files: PackedModule['files'] = []
    let docs: PackedDocs | undefined
    const archive = await normaliseModule({
      file,
      into,
      format,
      limits,
      signal,
      visit: async (module) => {
        files = module.files.map(({ path, sizeBytes }) => ({ path, sizeBytes }))
        docs = await packedDocs(module.files, module.read)
      },
    })
    if (docs === undefined) throw new TypeError('a normalised module has no documentation')
    const names = new Set(allowed.map(plainPath))
    // States are never packed.
    const accepted = secrets.filter(
      (path) => names.has(plainPath(path)) && files.some((one) => one.path.startsWith(path)),
    )
    return { archive, files, accepted, docs, interface: await unpackDocs(docs.bytes), refusals }
  }
  try {
    return await work(await (slots ? slots.run(pack) : pack()))
  } finally {
    await rm(into, { force: true })
  }
}

/** Refuses files that look like secrets and are not accepted, and names that accept nothing. */
function secretsRefused(found: readonly string[], allowed: readonly string[]): FillError[] {
  const accepted = new Set(allowed.map(plainPath).filter((path) => path !== ''))
  const known = new Set(found.map(plainPath))
  const useless = [...accepted]
    .filter((path) => !known.has(path))
    .map((path) => new FillError('NoSecretFile', uselessText(path, found)))
  const secrets = found.filter((path) => !accepted.has(plainPath(path)))
  if (secrets.length === 0) return useless
  const shown = secrets.slice(0, 5).join(', ') + (secrets.length > 5 ? ', …' : '')
  const verb = secrets.length > 1 ? 'look like secrets or states' : 'looks like a secret or a state'
  const flag = `--allow-file=${found.join(',')}`
  return [
    ...useless,
    new FillError(
      'SecretFile',
      `${shown} ${verb}: remove ${secrets.length > 1 ? 'them' : 'it'}, or accept with ${flag}`,
    ),
  ]
}

const plainPath = (path: string): string => path.replace(/^(?:\.\/)+/, '').replace(/\/$/, '')

function uselessText(path: string, found: readonly string[]): string {
  const near = found.filter((one) => one.startsWith(`${path}/`) || one.endsWith(`/${path}`))
  const meant = near.length > 0 ? near.slice(0, 5).join(',') : closest(path, found)
  const rest = meant === undefined ? 'leave it out' : `did you mean ${meant}?`
  return `--allow-file: ${path} is not a file of this module that looks like a secret or a state: ${rest}`
}

/** Versions with the same minor number are published in order, so that a newer number never has older content. */
export function backRefused({ siblings, version }: Target): FillError | undefined {
  const wanted = new semver.SemVer(version)
  const known = siblings((one) => semver.parse(one)?.major === wanted.major).map(
    (one) => new semver.SemVer(one.version),
  )
  const line = known.filter(({ minor }) => minor === wanted.minor)
  const rivals = line.length > 0 ? line : known
  const newest = rivals.toSorted(semver.rcompare)[0]
  if (newest === undefined || newest.compare(wanted) <= 0) return undefined
  return new FillError(
    'OlderVersion',
    `${version} is before ${newest.version}, which is published: publish ${newest.inc('patch').version} or later`,
  )
}

interface Compared extends ComparedVersion {
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
  const from = newestBefore(
    siblings().map((sibling) => sibling.version),
    version,
  )
  const sibling = siblings().find((one) => one.version === from)
  if (from === undefined || sibling === undefined) return unlike
  const next = new semver.SemVer(version).major + 1
  const isEnforced = isPromised(from, version) && config.versionPolicy === 'Enforce'
  try {
    const before = await docsOf(context, target, sibling)
    const { comparison, isBroken } = comparedWith(before, after, { from, to: version })
    if (!isEnforced || !isBroken) return { ...unlike, comparison, isBroken }
    const reasons = comparison.changes
      .filter(({ verdict }) => verdict === 'breaking')
      .slice(0, maxReasons)
      .map(changeText)
    const message = `breaks callers of ${from}: ${reasons.join(' ')} Publish it as ${next}.0.0`
    const refusal = new FillError('BreakingChange', message)
    return { ...unlike, comparison, isBroken, refusal }
  } catch (error) {
    context.signal.throwIfAborted()
    const uncompared = { from, message: messageOf(error) }
    if (!isEnforced) return { ...unlike, uncompared }
    const message = `cannot be compared with ${from}, as versionPolicy Enforce requires: ${uncompared.message}`
    const refusal = new FillError('BreakingChange', message, { cause: error })
    return { ...unlike, uncompared, refusal }
  }
}

/** Problems of files that could not be parsed, with file and line. */
export const unreadIn = (docs: ModuleDocs): readonly string[] => docsProblems(docs).map(problemText)

/** The newest stable one of some versions that is before another one. */
export function newestBefore(versions: readonly string[], version: string): string | undefined {
  const stable = versions.filter(
    (one) => semver.prerelease(one) === null && semver.valid(one) !== null,
  )
  return stable.filter((one) => semver.lt(one, version)).toSorted(semver.rcompare)[0]
}

/** Whether callers rely on the numbers: those of one major version are compatible. */
function isPromised(from: string, to: string): boolean {
  return semver.major(from) === semver.major(to) && semver.major(to) > 0
}

export function comparedWith(
  before: ModuleDocs,
  after: ModuleDocs,
  { from, to }: { readonly from: string; readonly to: string },
) {
  const comparison = compareModules(before, after, { from, to })
  return { comparison, isBroken: isPromised(from, to) && comparison.verdict === 'breaking' }
}
