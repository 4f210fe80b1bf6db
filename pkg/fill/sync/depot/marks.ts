/** Names the content of upstream versions: its age counts, and stored Versions are looked at again when it changes. */

import { hash } from 'node:crypto'
import {
  type ListingMemory,
  normalizeVersion,
  type ProviderConfig,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { isTimeout } from '../../../base/http/http.ts'
import { eachLimited } from '../../../base/pacing/pacing.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { lastingText } from '../../egress/egress.ts'
import { type CandidateVersion, type Policy, seenVersions } from '../../policy/policy.ts'
import {
  archiveHashes,
  FillError,
  type ProviderUpstream,
  type UpstreamOptions,
  type UpstreamProviderVersion,
  type UpstreamVersion,
} from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import { seenIn } from '../parent/seen.ts'
import { ownedBy, versionOfStored } from '../parent/versions.ts'
import { readyIn } from '../status.ts'
import { msOf, within } from '../timings.ts'
import { type OtherContent, versionStatus } from '../version/work.ts'
import { type DepotItem, ruleBasis } from './configs.ts'
import { depotOf } from './made.ts'

/** Maximum number of versions that are asked for at once. */
const maxAtOnce = 4

interface Asked {
  readonly versions: readonly (UpstreamVersion | UpstreamProviderVersion)[]
  readonly policy: Policy | undefined
  readonly memory: ListingMemory | undefined
  readonly lastMs: number | undefined
  /** Whether a config wants a version that is not stored. */
  readonly isAwaited: (version: string) => boolean
  readonly asking: Pick<UpstreamOptions, 'signal' | 'urgent'>
}

/**
 * Lists of registries say nothing about the content of their versions. So they are asked for that of each version that is
 * young when it is seen first, or of each one if a rule reads ages, and again while a version waits. One that cannot be
 * answered is asked for at the next poll.
 */
export async function markedVersions(
  context: Context,
  namespace: string,
  { kind, config }: Pick<DepotItem, 'kind' | 'config'>,
  { versions, policy, memory, lastMs, isAwaited, asking }: Asked,
): Promise<CandidateVersion[]> {
  const listed = versions.map((one) => ({
    version: one.version,
    ...('commit' in one && one.commit !== undefined && { mark: markOfCommit(one.commit) }),
    ...(one.publishedAt !== undefined && { publishedMs: msOf(one.publishedAt) ?? Infinity }),
  }))
  if (policy?.needsAge !== true) return listed
  if (listed.every(({ mark }) => mark !== undefined)) return listed
  const nowMs = context.clock()
  const before = memory && seenIn(memory, nowMs)
  const seen = seenVersions(listed, before, policy, { nowMs, lastMs })
  const isAsked = (one: CandidateVersion): boolean => {
    const version = normalizeVersion(one.version)
    if (one.mark !== undefined) return false
    if (before?.get(version)?.mark !== undefined) return isAwaited(one.version)
    // A rule does not say how old a version has to be.
    if (policy.datedBy !== undefined) return true
    return (seen.get(version)?.sinceMs ?? nowMs) + policy.minimumAgeMs > nowMs
  }
  const marks = new Map<string, string | undefined>()
  const { signal, urgent } = asking
  // Those for which there is no time are asked for at the next poll.
  const options = { signal: within(signal, context.timings.listMs), urgent }
  const ask = marksFrom(context, namespace, { kind, config }, options)
  const asked = new Set(listed.filter(isAsked).map(({ version }) => version))
  // Those whose content nobody has read come first: the time may not last for all.
  const isKnown = ({ version }: { readonly version: string }): number =>
    before?.get(normalizeVersion(version))?.mark === undefined ? 0 : 1
  const unread = new Map<string, string>()
  await eachLimited(
    versions
      .filter(({ version }) => asked.has(version))
      .toSorted((a, b) => isKnown(a) - isKnown(b)),
    maxAtOnce,
    async (one) => {
      const mark = await ask(one).catch((error: unknown) => {
        signal.throwIfAborted()
        if (!(error instanceof FillError || isTimeout(error))) throw error
        const problem =
          error instanceof FillError ? lastingText(error.message) : 'no answer in time'
        unread.set(one.version, problem)
        return undefined
      })
      marks.set(one.version, mark)
    },
  )
  return listed.map((one) => ({
    ...one,
    mark: one.mark ?? marks.get(one.version),
    isUnread: unread.has(one.version),
    problem: unread.get(one.version),
  }))
}

function marksFrom(
  { sources }: Context,
  namespace: string,
  { kind, config }: Pick<DepotItem, 'kind' | 'config'>,
  options: UpstreamOptions,
): (one: UpstreamVersion | UpstreamProviderVersion) => Promise<string | undefined> {
  if (kind === 'Module') {
    const source = sources.module(config, namespace)
    const recent = { ...options, maxAgeMs: Number.POSITIVE_INFINITY }
    return async ({ version }) => markOfModule((await source.resolve(version, recent)).revision)
  }
  const source = sources.provider(config, namespace)
  return async (one) =>
    'platforms' in one ? (await contentOfRelease(source, one, options)).mark : undefined
}

type Platform = UpstreamProviderVersion['platforms'][number]

/** As long as a commit: shorter, and authors can make two contents whose digests begin alike, one to wait and one to be stored. */
const markLength = 40

const markOfCommit = (commit: string): string => commit.slice(0, markLength)

/**
 * Names the commit of a module. A registry that names the URL of an archive says nothing of its content: some registries sign a
 * new URL for each answer.
 */
export function markOfModule(revision: string): string | undefined {
  const commit = /@sha\d+:([0-9a-f]+)$/.exec(revision)?.[1]
  return commit && markOfCommit(commit)
}

/** Names the checksums of a release. */
export const markOfRevision = (revision: string): string =>
  hash('sha256', revision).slice(0, markLength)

/** Digests of the archives of a release, and their name. */
interface ReleaseContent {
  readonly sums: readonly string[]
  /** Undefined if the release has no archives yet. */
  readonly mark: string | undefined
}

/**
 * Reads the checksums of all platforms of a release. One document usually has all of them, but may also have only
 * those of one platform. A platform that cannot be asked about may be in the document of another one. Where upstream has
 * nothing for a platform that it lists, the mark says so: it changes when the platform comes.
 *
 * @throws FillError
 */
export async function contentOfRelease(
  upstream: Pick<ProviderUpstream, 'address' | 'sums'>,
  { version, platforms }: Pick<UpstreamProviderVersion, 'version' | 'platforms'>,
  options: UpstreamOptions,
): Promise<ReleaseContent> {
  const type = upstream.address.split('/').at(-1) ?? ''
  const files = new Map<string, string>()
  const isKnown = ({ os, arch }: Platform) =>
    archiveHashes(files, type, version).has(`${os}_${arch}`)
  const failures: { readonly platform: Platform; readonly error: FillError }[] = []
  for (const platform of platforms) {
    if (isKnown(platform)) continue
    try {
      const sums = await upstream.sums(version, platform, options)
      for (const [file, sum] of sums) files.set(file, sum)
    } catch (error) {
      if (!(error instanceof FillError) || error.reason === 'RateLimited') throw error
      failures.push({ platform, error })
    }
  }
  const unknown = failures.filter(({ platform }) => !isKnown(platform))
  const isAbsent = ({ error }: { readonly error: FillError }) => error.reason === 'UpstreamNotFound'
  // Without one of them, the mark would change when that can be read.
  const missing = unknown.find((one) => files.size === 0 || !isAbsent(one))
  if (missing !== undefined) throw ofPlatform(missing.platform, missing.error)
  const absent = unknown.map(({ platform: { os, arch } }) => `absent ${os}_${arch}`)
  const named = [...[...files].map(([file, sum]) => `${sum} ${file}`), ...absent].toSorted()
  const mark = named.length === 0 ? undefined : markOfRevision(named.join('\n'))
  return { sums: [...files.values()], mark }
}

function ofPlatform({ os, arch }: Platform, error: FillError): FillError {
  const { retryAfterMs } = error
  return new FillError(error.reason, `${os}_${arch}: ${error.message}`, {
    cause: error,
    retryAfterMs,
  })
}

/** Maximum number of releases of a provider that are asked for at once. */
const maxReleasesAtOnce = 4
const signedAgainMs = 24 * 60 * 60_000

type ListedVersion = Pick<UpstreamVersion, 'version' | 'commit'>

/** Wakes Versions of a Module whose tag points to another commit now. */
export function wakeMoved(
  context: Context,
  module: StoredObject,
  {
    versions,
    isHeld,
  }: {
    readonly versions: readonly ListedVersion[]
    readonly isHeld: (one: ListedVersion) => boolean
  },
): void {
  const listed = new Map(versions.map((one) => [normalizeVersion(one.version), one]))
  for (const child of ownedBy(context, module)) {
    const seen = seenRevision(child)
    const one = listed.get(versionOfStored(child))
    if (seen === undefined || one?.commit === undefined || seen.endsWith(`:${one.commit}`)) continue
    wakeOutdated(context, child, isHeld(one) ? { isHeld: true } : {})
  }
}

/**
 * Wakes Versions of a Provider whose signer a rule refused: at once if the rules have changed, otherwise once a day, because the
 * release may have another signature by then.
 */
export function wakeRefused(context: Context, provider: StoredObject): void {
  const rules = ruleBasis(context, depotOf(context, provider), 'Provider')
  for (const child of ownedBy(context, provider)) {
    const ready = readyIn(versionStatus(child).conditions)
    if (ready?.reason !== 'RuleRefused') continue
    const ruled = context.ruled.get(keyOf(child.metadata))
    const isKnown = ruled?.rules === rules && context.clock() - ruled.atMs < signedAgainMs
    if (!isKnown) context.wake(refOf(child), 'poll')
  }
}

/** Wakes Versions of a Provider whose release has other checksums now. */
export async function wakeReleased(
  context: Context,
  provider: StoredObject,
  config: unknown,
  asking: { readonly signal: AbortSignal; readonly urgent: boolean },
): Promise<void> {
  const { namespace } = provider.metadata
  const upstream = context.sources.provider(config as ProviderConfig, namespace)
  const stored = ownedBy(context, provider).filter((child) => {
    const { release, upstream: state } = versionStatus(child)
    return release?.fileName !== undefined && state !== 'Gone'
  })
  const specOf = ({ spec }: StoredObject) => spec as Version['spec']
  const releases = Map.groupBy(stored, (child) => specOf(child).version)
  await eachLimited(releases, maxReleasesAtOnce, async ([version, [first, ...rest]]) => {
    if (first === undefined) return
    const { operatingSystem: os = '', architecture: arch = '' } = specOf(first)
    const options = { ...asking, signal: within(asking.signal, context.timings.listMs) }
    // A release that cannot be read now is compared at the next poll.
    const sums = await upstream.sums(version, { os, arch }, options).catch(noneIfFailed)
    for (const child of [first, ...rest]) {
      const sum = sums.get(versionStatus(child).release?.fileName ?? '')
      if (sum === undefined || seenRevision(child) === `sha256:${sum}`) continue
      const from = `SHA256SUMS of ${upstream.address} ${version}`
      wakeOutdated(context, child, { contentDigest: sum, from })
    }
  })
}

/** The revision of upstream that was last looked at. */
function seenRevision(child: StoredObject): string | undefined {
  const { drift, attempted, artifact } = versionStatus(child)
  return drift?.revision ?? attempted?.revision ?? artifact?.revision
}

function wakeOutdated(context: Context, child: StoredObject, other: OtherContent): void {
  context.outdated.set(keyOf(child.metadata), other)
  context.wake(refOf(child), 'poll')
}

function noneIfFailed(error: unknown): ReadonlyMap<string, string> {
  if (error instanceof FillError) return new Map()
  throw error
}
