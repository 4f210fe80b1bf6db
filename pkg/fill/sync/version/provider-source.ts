import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import {
  type ArchiveSource,
  type Provider,
  type ProviderConfig,
  sourceFileName,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { packFiles, visitFiles } from '../../../archives/archive/archive.ts'
import { hasReason, printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { shownUrl } from '../../egress/egress.ts'
import type { ModuleOrigin, ModuleUpstream, ResolvedVersion } from '../../sources/sources.ts'
import { type Context, keyOf, latestOf } from '../context.ts'
import { failureOf } from '../failure.ts'
import { resourceOf } from '../resource.ts'
import { writeStatus } from '../status.ts'
import { jittered } from '../timings.ts'
import { configOf } from './parent-of.ts'
import { placeOf, type StoragePlace } from './plan.ts'
import { sourcedStatus, sourceIn } from './status.ts'
import { storeBytes } from './store.ts'
import { type VersionStatus, versionStatus } from './work.ts'

type GithubClientConfig = ProviderConfig['githubClientConfig']

/** Platforms of a version ask for the same files at about the same time. */
const sharedMs = 2 * 60_000
/** A repository that cannot be listed is not asked again for each of its versions, nor a version for each platform. */
const brokenMs = 30 * 60_000
/** As old as the lists that versions of one repository share. */
const listMs = 60_000
const names = ['go.mod', 'go.sum'] as const
/** Large providers have a go.sum of some 300 KiB. */
const maxFileBytes = 4 * 1024 * 1024

/** The go.mod and go.sum of a version, packed, or why there are none. */
export type SourceFiles = { readonly revision: string } & (
  | { readonly bytes: Buffer; readonly sha256: string }
  | { readonly problem: string }
)

interface SourceNeed {
  readonly signal: AbortSignal
  /** Whether the archive was just looked for in storage; then the files are, too. */
  readonly isChecked: boolean
  /** Whether a person asks for all of the version again. */
  readonly isRequested: boolean
}

/**
 * Stores go.mod and go.sum of a provider version next to its archive, for scanners, which reach no repository. The repository
 * is asked until it has answered once, and again if another one is named. A failure is written down.
 *
 * @returns when to try again
 */
export async function keepSource(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  { signal, isChecked, isRequested }: SourceNeed,
): Promise<number | undefined> {
  const { artifact } = versionStatus(object)
  const { fileName, sha256, source: known } = artifact ?? {}
  if (!context.providerSources || fileName === undefined || sha256 === undefined) return undefined
  if (!isProvider(object) || !at.place.isGrantedTo(object.metadata.namespace)) return undefined
  const write = (source: ArchiveSource | undefined) =>
    writeStatus<VersionStatus>(context, latestOf(context, object), (status) => {
      if (status?.artifact?.sha256 !== sha256) return { fields: {}, conditions: {} }
      const { removalGraceMs: graceMs } = context.timings
      return sourcedStatus(status, source, { at, nowMs: context.clock(), graceMs })
    })
  const wanted = wantedSource(context, object)
  if (wanted === 'unknown') return undefined
  if (wanted === undefined) {
    if (known !== undefined) await write(undefined)
    return undefined
  }
  const { repository } = wanted
  const isKnown = known?.repository === repository && known.revision !== undefined
  if (isKnown && !isRequested && (!isChecked || (await isThere(object, at)))) return undefined
  try {
    const { revision, ...found } = await filesOf(context, object, wanted, { signal, isRequested })
    if ('problem' in found) {
      await write({ repository, revision, problem: found.problem })
      return undefined
    }
    const name = sourceFileName(fileName, sha256)
    const letGo = await context.inUse.hold(at.placeId, [name])
    try {
      await storeBytes(context, at.place, { ...found, fileName: name }, signal)
      const { sha256: digest, bytes } = found
      await write({ repository, revision, sha256: digest, sizeBytes: bytes.length })
    } finally {
      letGo()
    }
    return undefined
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    const { reason, message, retryAfterMs } = failure
    const key = keyOf(object.metadata)
    context.log.warn({ key, repository, reason, error: message }, 'go.mod was not fetched')
    const problem =
      reason === 'InvalidSpec'
        ? `${repository} is not the URL of a repository, such as https://github.com/OWNER/NAME`
        : message
    if (!isKnown) await write({ repository, problem: printable(problem, 300) })
    return Math.max(retryAfterMs ?? 0, jittered(context.timings.stalledMs, object.metadata.uid))
  }
}

async function isThere(object: StoredObject, { place }: StoragePlace): Promise<boolean> {
  const { artifact } = versionStatus(object)
  const { sha256, sizeBytes = 0 } = artifact?.source ?? {}
  const name = sourceIn(artifact)
  if (name === undefined || sha256 === undefined) return true
  return place.driver.check(place.object(name), { sha256, sizeBytes })
}

interface WantedSource {
  /** As it is shown. */
  readonly repository: string
  readonly version: string
  readonly origin: ModuleOrigin
}

/** The repository that the config of a provider names, otherwise the one that its registry names, if it has answered. */
function wantedSource(
  context: Context,
  object: StoredObject,
): WantedSource | 'unknown' | undefined {
  const resource = resourceOf('Version', latestOf(context, object))
  const { parent, configName: name, version } = placeOf(context, resource)
  const config: Partial<ProviderConfig> = {
    ...configOf(parent),
    ...resource.spec.providerConfigRef,
  }
  const status = parent?.status as Provider['status']
  const url = config.sourceRepository ?? status?.resolvedSourceRepository
  if (url === undefined && resource.spec.upload === undefined) return 'unknown'
  if (!url) return undefined
  const { docs, githubClientConfig } = config
  const source = docs?.url === url ? docs : { type: hostOf(url, githubClientConfig), url }
  const isOwn = source.type === 'github' && speaksFor(url, githubClientConfig)
  return {
    repository: shownUrl(url),
    version,
    origin: { name, source, ...(isOwn && { githubClientConfig }) },
  }
}

const isPublicGithub = (url: string): boolean =>
  /^(www\.)?github\.com$/.test(URL.parse(url)?.host ?? '')

const hostOf = (url: string, config: GithubClientConfig): 'github' | 'git' =>
  isPublicGithub(url) || speaksFor(url, config) ? 'github' : 'git'

/** Whether the credential of a config is for the host of a repository: a registry may name any host. */
function speaksFor(url: string, config: GithubClientConfig): boolean {
  if (config?.apiUrl === undefined) return isPublicGithub(url)
  const { host } = URL.parse(config.apiUrl) ?? {}
  return host === 'api.github.com' ? isPublicGithub(url) : host === URL.parse(url)?.host
}

async function filesOf(
  context: Context,
  object: StoredObject,
  { repository, version, origin }: WantedSource,
  { signal, isRequested }: Pick<SourceNeed, 'signal' | 'isRequested'>,
): Promise<SourceFiles> {
  const { namespace } = object.metadata
  const key = JSON.stringify([namespace, origin.name, version, repository])
  const whole = JSON.stringify([namespace, origin])
  const known = await context.providerFiles.get(key)?.catch((error: unknown) => {
    if (isRequested || failureOf(error) === undefined) return undefined
    throw error
  })
  if (known !== undefined) return known
  const broken = isRequested ? undefined : context.providerFiles.get(whole)
  if (broken !== undefined) return broken
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(context.timings.roomMs)])
  const upstream = context.sources.module(origin, namespace)
  const nowMs = context.clock()
  const made = (async () => {
    await upstream.list({ signal: deadline, maxAgeMs: listMs }).catch((error: unknown) => {
      if (!signal.aborted) context.providerFiles.set(whole, made, nowMs + brokenMs)
      throw error
    })
    const resolved = await upstream.resolve(version, { signal: deadline })
    const { revision, ref } = resolved
    const contents = await read(context, upstream, resolved, deadline)
    const large = names.find((name) => contents.get(name) === 'large')
    if (large !== undefined) {
      const limit = `${maxFileBytes / 1024 / 1024} MiB`
      return { revision, problem: `${large} of ${repository} has more than ${limit} at ${ref}` }
    }
    const files = new Map<string, Buffer>()
    for (const [name, bytes] of contents) if (bytes !== 'large') files.set(name, bytes)
    return files.has('go.mod')
      ? { revision, ...(await packed(context, files, deadline)) }
      : { revision, problem: `${repository} has no go.mod at ${ref}` }
  })()
  context.providerFiles.set(key, made, nowMs + sharedMs)
  made.catch(() => {
    if (signal.aborted) context.providerFiles.delete(key)
    else context.providerFiles.set(key, made, nowMs + brokenMs)
  })
  return made
}

type Contents = Map<string, Buffer | 'large'>

async function read(
  context: Context,
  upstream: ModuleUpstream,
  resolved: ResolvedVersion,
  signal: AbortSignal,
): Promise<Contents> {
  const contents: Contents = new Map()
  if (upstream.file === undefined) return readWhole(context, upstream, resolved, signal)
  for (const name of names) {
    const bytes = await upstream
      .file(resolved, name, { signal, maxBytes: maxFileBytes })
      .catch((error: unknown) => {
        if (error instanceof Error && hasReason(error.cause, 'TooLarge')) return 'large' as const
        throw error
      })
    if (bytes !== undefined) contents.set(name, bytes)
  }
  return contents
}

/** Reads the files from the archive of a whole repository. */
async function readWhole(
  { limits: { module: limits } }: Context,
  upstream: ModuleUpstream,
  resolved: ResolvedVersion,
  signal: AbortSignal,
): Promise<Contents> {
  const contents: Contents = new Map()
  const { file } = await upstream.fetch(resolved, { signal, limits })
  try {
    await visitFiles({ file: file.path, limits, signal }, (path) => {
      const name = names.find((one) => one === path)
      if (name === undefined) return undefined
      contents.set(name, Buffer.alloc(0))
      return (chunk) => {
        const before = contents.get(name) ?? 'large'
        const isLarge = before === 'large' || before.length + chunk.length > maxFileBytes
        contents.set(name, isLarge ? 'large' : Buffer.concat([before, chunk]))
      }
    })
    return contents
  } finally {
    await file.remove()
  }
}

async function packed({ spool }: Context, files: ReadonlyMap<string, Buffer>, signal: AbortSignal) {
  const reserved = await spool.reserve(0, { signal })
  try {
    await packFiles(files, reserved.path, signal)
    const bytes = await readFile(reserved.path)
    return { bytes, sha256: hash('sha256', bytes) }
  } finally {
    await reserved.remove()
  }
}

const isProvider = ({ spec }: StoredObject): boolean =>
  (spec as { readonly type?: string }).type === 'Provider'
