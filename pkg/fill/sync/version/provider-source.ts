import {
  type ArchiveSource,
  type Provider,
  type ProviderConfig,
  sourceFileName,
  sourceFileOf,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { lastingText, refusalOf, shownUrl } from '../../egress/egress.ts'
import type { Reconciled } from '../../queue/queue.ts'
import {
  FillError,
  type ModuleOrigin,
  type ModuleUpstream,
  type UpstreamOptions,
} from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { keyOf, latestOf, resourceOf } from '../objects.ts'
import { providerConfigOf } from '../parent/versions.ts'
import { writeStatus } from '../status.ts'
import { jittered, within } from '../timings.ts'
import { readFiles } from './go-files.ts'
import { placeOf } from './plan.ts'
import { sourcedStatus } from './status.ts'
import { storeBytes } from './store.ts'
import {
  type SourceFiles,
  type StoragePlace,
  type SyncRequest,
  type VersionStatus,
  versionStatus,
} from './work.ts'

type GithubClientConfig = ProviderConfig['githubClientConfig']

/** A repository that cannot be listed is not asked again for each of its versions, nor a version for each platform. */
const brokenMs = 30 * 60_000
/** A version that is stored once needs no newer list of tags, unless it is missing there. */
const listMs = 24 * 3_600_000
/** A list without a version is asked for again when it is older: a registry may have versions without a tag. */
const incompleteListMs = 4 * 3_600_000
/** As old as the lists that versions of one repository share when somebody waits for new content. */
const freshListMs = 60_000

/** Larger ones are read again for each platform, because they would fill the memory. */
const maxSharedBytes = 1024 * 1024

export interface SourceNeed {
  readonly signal: AbortSignal
  /** Whether the archive was just looked for in storage; then the files are, too. */
  readonly isChecked: boolean
  /** A person requested all files of the version again. */
  readonly request: SyncRequest | undefined
}

/**
 * Stores go.mod and go.sum of a provider version next to its archive, for scanners, which reach no repository. The repository
 * is asked until it has answered once, and again if another one is named. A failure is recorded, and what is known stays.
 * Without the option, both go.
 *
 * @returns when to try again, or what the version waits for
 */
export async function keepSource(
  context: Context,
  object: StoredObject,
  at: StoragePlace,
  { signal, isChecked, request }: SourceNeed,
): Promise<Reconciled> {
  const { artifact } = versionStatus(object)
  const { fileName, sha256, source: known } = artifact ?? {}
  if (fileName === undefined || sha256 === undefined) return {}
  if (!at.place.isGrantedTo(object.metadata.namespace)) return {}
  const write = (source: ArchiveSource | undefined) =>
    writeStatus<VersionStatus>(context, latestOf(context, object), (status) => {
      if (status?.artifact?.sha256 !== sha256) return { fields: {}, conditions: {} }
      const { removalGraceMs: graceMs } = context.timings
      return sourcedStatus(status, source, { at, nowMs: context.clock(), graceMs })
    })
  const wanted = context.providerSources === true ? wantedSource(context, object) : undefined
  if (wanted === 'unknown') return {}
  if (wanted === undefined) {
    if (known !== undefined) await write(undefined)
    return {}
  }
  const isKnown = known?.repository === wanted.repository && hasAnswered(known)
  if (isKnown && request === undefined && (!isChecked || (await isThere(object, at)))) return {}
  const work = { object, at, fileName, known, wanted, write }
  try {
    return await fetchSource(context, work, { signal, request })
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    return reportUnread(context, work, failure)
  }
}

interface SourceWork {
  readonly object: StoredObject
  readonly at: StoragePlace
  /** Name of the archive of the provider. */
  readonly fileName: string
  readonly known: ArchiveSource | undefined
  readonly wanted: WantedSource
  readonly write: (source: ArchiveSource) => Promise<unknown>
}

/** @throws FillError, and errors of storage */
async function fetchSource(
  context: Context,
  { object, at, fileName, known, wanted, write }: SourceWork,
  { signal, request }: Pick<SourceNeed, 'signal' | 'request'>,
): Promise<Reconciled> {
  const { repository } = wanted
  const { lastHandledSync, lastForcedSync } = versionStatus(object)
  const isRequested = lastHandledSync !== undefined || lastForcedSync !== undefined
  const isUpdate = known?.problem !== undefined && (known.sha256 !== undefined || isRequested)
  const answer = await filesOf(context, object, wanted, { signal, request, isUpdate })
  if ('waitsFor' in answer) {
    if (request !== undefined)
      await write(unanswered(known, repository, `${repository} is asked again`))
    return answer
  }
  const { revision, ...found } = answer
  if ('problem' in found) {
    await write({ repository, revision, problem: found.problem })
    return {}
  }
  const { bytes, sha256 } = found
  const file = { sha256, fileName: sourceFileName(fileName, sha256) }
  const letGo = await context.inUse.hold(at.placeId, [file.fileName])
  try {
    await storeBytes(context, at.place, { ...file, bytes }, signal)
    await write({ repository, revision, ...file, sizeBytes: bytes.length })
  } finally {
    letGo()
  }
  return {}
}

/** Writes down why a repository gave no answer. @returns when to ask again */
async function reportUnread(
  { log, timings }: Context,
  { object, known, wanted: { repository }, write }: SourceWork,
  { reason, message, retryAfterMs }: FillError,
): Promise<Reconciled> {
  const cause =
    reason === 'InvalidSpec'
      ? `${repository} is not the URL of a repository, such as https://github.com/OWNER/NAME`
      : lastingText(message)
  const said = known?.sha256 === undefined ? cause : `${repository} cannot be read now: ${cause}`
  const problem = printable(said, 300)
  if (problem !== known?.problem) {
    const key = keyOf(object.metadata)
    log.warn({ key, repository, reason, error: message }, 'go.mod was not fetched')
  }
  await write(unanswered(known, repository, problem))
  const waitMs = jittered(timings.stalledMs, object.metadata.uid)
  return { afterMs: Math.max(retryAfterMs ?? 0, waitMs) }
}

/** Files that are known stay, and are asked for again. */
const unanswered = (
  known: ArchiveSource | undefined,
  repository: string,
  problem: string,
): ArchiveSource => ({ ...(known?.sha256 === undefined ? { repository } : known), problem })

/** Whether a repository has said what it has of a version. Next to files, a problem says that a later attempt failed. */
const hasAnswered = ({ revision, sha256, problem }: ArchiveSource): boolean =>
  revision !== undefined && (sha256 === undefined || problem === undefined)

async function isThere(object: StoredObject, { place }: StoragePlace): Promise<boolean> {
  const { artifact } = versionStatus(object)
  const { sha256, sizeBytes = 0 } = artifact?.source ?? {}
  const name = sourceFileOf(artifact)
  if (name === undefined || sha256 === undefined) return true
  return place.driver.check(place.object(name), { sha256, sizeBytes })
}

interface WantedSource {
  /** As it is shown. */
  readonly repository: string
  readonly version: string
  readonly origin: ModuleOrigin
  /** Whether the config names it, and not the registry alone. */
  readonly isNamed: boolean
}

/** The repository that the config of a provider names, otherwise the one that its registry names, if it has answered. */
function wantedSource(
  context: Context,
  object: StoredObject,
): WantedSource | 'unknown' | undefined {
  const resource = resourceOf('Version', latestOf(context, object))
  const { parent, configName: name, version } = placeOf(context, resource)
  const config = providerConfigOf(parent, resource)
  const status = parent?.status as Provider['status']
  const url = config.sourceRepository ?? status?.resolvedSourceRepository
  // A Provider that is deleted to be created again, or whose file cannot be read, may name one.
  const isSaid = resource.spec.upload !== undefined && parent !== undefined
  if (url === undefined && !isSaid) return 'unknown'
  if (!url) return undefined
  const { docs, githubClientConfig } = config
  const source = docs?.url === url ? docs : { type: hostOf(url, githubClientConfig), url }
  const isOwn = source.type === 'github' && speaksFor(url, githubClientConfig)
  return {
    repository: shownUrl(url),
    version,
    isNamed: config.sourceRepository !== undefined || source === docs,
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
  const { host = '' } = URL.parse(config.apiUrl) ?? {}
  if (host === 'api.github.com') return isPublicGithub(url)
  // GitHub Enterprise Cloud has its API on a host of its own.
  const web = host.endsWith('.ghe.com') ? host.replace(/^api\./, '') : host
  return web === URL.parse(url)?.host
}

/** Fetches the files, once for all platforms. A request of a person does not use files that were fetched before it. */
async function filesOf(
  context: Context,
  object: StoredObject,
  wanted: WantedSource,
  {
    signal,
    request,
    isUpdate,
  }: Pick<SourceNeed, 'signal' | 'request'> & {
    /** Whether an attempt to replace known files, or one that a person requested, has failed. */
    readonly isUpdate: boolean
  },
): Promise<SourceFiles | { readonly waitsFor: string }> {
  const { repository, version, origin, isNamed } = wanted
  const { namespace } = object.metadata
  const key = JSON.stringify([namespace, origin.name, version, repository, isNamed, request])
  const whole = JSON.stringify([namespace, origin, isNamed])
  const upstream = openSource(context, namespace, wanted)
  // Platforms that wait for the files of another one may not take all places of the namespace.
  const line = `${context.providerFiles.has(key) ? 'files' : 'clones'}/${namespace}`
  const waitsFor = upstream.file === undefined ? line : undefined
  const slotKey = keyOf(object.metadata)
  if (waitsFor !== undefined && !context.slots.take(waitsFor, slotKey)) return { waitsFor }
  // The rest of the work asks no registry.
  context.slots.free(slotKey, waitsFor)
  // A list of a host with a rate limit is newer than the attempt that failed, and the same for all versions.
  const updateMs = upstream.file === undefined ? freshListMs : context.timings.stalledMs * 0.8
  const maxAgeMs = isUpdate ? updateMs : listMs
  /** The deadline begins after the wait for another caller. */
  const asking = () => ({
    signal: within(signal, context.timings.roomMs),
    maxAgeMs: request === undefined ? maxAgeMs : 0,
    maxIncompleteAgeMs: incompleteListMs,
  })
  const failedMs = () => (signal.aborted ? 0 : brokenMs)
  const list = async () => {
    const options = asking()
    await upstream.list(options)
    await requireReadable(wanted, upstream, options)
  }
  let isListed = false
  const make = async () => {
    await context.repositories.get(whole, list, {
      failedMs,
      isFresh: request !== undefined,
      signal,
    })
    isListed = true
    // The list that was just asked for is recent enough.
    const options = asking()
    const recent = { ...options, maxAgeMs: Math.max(options.maxAgeMs, freshListMs) }
    const resolved = await upstream.resolve(version, recent)
    return readFiles(context, upstream, resolved, { repository, signal: options.signal })
  }
  return context.providerFiles.get(key, make, {
    isKept: (found) => !('bytes' in found && found.bytes.length > maxSharedBytes),
    failedMs: () => (isListed ? failedMs() : 0),
    signal,
  })
}

/** Compares a host that only a registry names with the rules first, because a refused request fires an alert. @throws FillError */
function openSource(
  { sources, policy }: Context,
  namespace: string,
  { origin, isNamed }: WantedSource,
): ModuleUpstream {
  const upstream = sources.module(origin, namespace)
  const { apiHost } = upstream
  const url = apiHost === undefined ? (origin.source?.url ?? '') : `https://${apiHost}`
  const refusal = policy && !isNamed ? refusalOf(policy, url) : undefined
  if (refusal !== undefined) throw new FillError('EgressRefused', refusal)
  return upstream
}

/** A registry may name any repository that the credential of the config reads. @throws FillError */
async function requireReadable(
  { repository, isNamed }: WantedSource,
  upstream: ModuleUpstream,
  options: UpstreamOptions,
): Promise<void> {
  if (isNamed || (await upstream.isPublic?.(options)) !== false) return
  throw new FillError(
    'AccessDenied',
    `${repository} is private, and only the registry names it: name it in sourceRepository to have it scanned`,
  )
}
