/** Brings a Provider to its spec: a Version for each of its versions and platforms. */

import type { Provider, ProviderConfig, Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject, StoredRef } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import type { Platform, ProviderUpstream, UpstreamProviderVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureOf } from '../failure.ts'
import { keyOf, resourceOf } from '../objects.ts'
import { within } from '../timings.ts'
import { firstSigner } from '../version/in-work.ts'
import { isStored, versionStatus } from '../version/work.ts'
import { isRetained, markVersions } from './children.ts'
import { type ParentPlan, reconcileParent } from './reconcile-parent.ts'
import {
  type DesiredVersion,
  listedVersions,
  ownedBy,
  publishedFor,
  retention,
  type Skipped,
  type SpelledVersion,
  versionOfStored,
  versionsIn,
} from './versions.ts'

/** A younger list is not requested again if it has every wanted version. */
const listMaxAgeMs = 24 * 60 * 60_000

interface Asking {
  readonly signal: AbortSignal
  readonly urgent: boolean
  readonly listMs: number
}

export function reconcileProvider(
  context: Context,
  ref: StoredRef,
  signal: AbortSignal,
): Promise<Reconciled | undefined> {
  const { listMs } = context.timings
  return reconcileParent(
    context,
    ref,
    (object, request) => planOf(context, object, { signal, urgent: request !== undefined, listMs }),
    signal,
  )
}

async function planOf(context: Context, object: StoredObject, asking: Asking): Promise<ParentPlan> {
  const { spec, metadata } = resourceOf('Provider', object)
  const children = ownedBy(context, object)
  const published = publishedFor(context, object)
  const retained = new Set([...children.filter(isRetained), ...published].map(versionOfStored))
  const { listed, skipped } = listedVersions([...spec.versions, ...versionsIn(published)])
  const { providerConfig } = spec
  const { name = metadata.name, versionHistoryLimit } = providerConfig
  const kept = retention(listed, versionHistoryLimit, (version) => retained.has(version))
  const config = { ...providerConfig, name }
  const ours = new Set(children.map(versionOfStored))
  const isPublished = ({ version }: SpelledVersion) =>
    !ours.has(version) && published.some((child) => versionOfStored(child) === version)
  const asked = kept.filter((one) => !isPublished(one))
  const source =
    asked.length === 0 ? undefined : context.sources.provider(config, metadata.namespace)
  const upstream =
    source === undefined
      ? new Map<string, UpstreamProviderVersion>()
      : await upstreamVersions(source, asked, asking)
  const origin = await originOf(context, object, source, asking)
  const stored = Map.groupBy(children.filter(isStored), versionOfStored)
  const platforms = asked.map((one) =>
    platformsOf(one, upstream.get(one.version), stored.get(one.version) ?? [], providerConfig),
  )
  const wanted = new Set(kept.map(({ version }) => version))
  await markVersions(context, children, (child) => {
    const { os, arch } = platformOf(child)
    const has = upstream.get(versionOfStored(child))?.platforms
    if (!wanted.has(versionOfStored(child))) return versionStatus(child).upstream === 'Gone'
    return has?.some((one) => one.os === os && one.arch === arch) !== true
  })
  const { providerConfig: given } = object.spec as { providerConfig: Record<string, unknown> }
  return {
    config: { type: 'Provider', config: { ...given, name } },
    desired: [
      ...platforms.flatMap(({ desired }) => desired),
      ...kept
        .filter(isPublished)
        .flatMap((one) =>
          published
            .filter((child) => versionOfStored(child) === one.version)
            .map((child) => ({ ...one, ...platformOf(child) })),
        ),
    ],
    address: source?.address,
    skipped: [...skipped, ...platforms.flatMap((one) => one.skipped)],
    fields: { signingKey: firstSigner(object, children), ...origin },
  }
}

async function upstreamVersions(
  upstream: ProviderUpstream,
  wanted: readonly SpelledVersion[],
  { signal, urgent, listMs }: Asking,
): Promise<ReadonlyMap<string, UpstreamProviderVersion>> {
  const list = async (maxAgeMs: number) => {
    const options = { signal: within(signal, listMs), urgent, maxAgeMs }
    const { versions } = await upstream.list(options)
    return new Map(versions.map((version) => [version.version, version]))
  }
  const known = await list(urgent ? 0 : listMaxAgeMs)
  const isComplete = wanted.every(({ version }) => known.has(version))
  return isComplete || urgent ? known : list(60_000)
}

function platformOf({ spec }: StoredObject): Platform {
  const { operatingSystem: os = '', architecture: arch = '' } = spec as Version['spec']
  return { os, arch }
}

/**
 * Splits the wanted platforms of a version into those that upstream has and those that it lacks. Platforms that are stored
 * stay wanted when upstream no longer has them.
 */
function platformsOf(
  { version, spelled }: SpelledVersion,
  upstream: UpstreamProviderVersion | undefined,
  stored: readonly StoredObject[],
  { operatingSystems = [], architectures = [], protocols: own }: ProviderConfig,
): { readonly desired: readonly DesiredVersion[]; readonly skipped: readonly Skipped[] } {
  if (upstream === undefined && stored.length === 0) {
    return { desired: [], skipped: [{ version, message: 'upstream does not have this version' }] }
  }
  const fits = (names: readonly string[], name: string) =>
    names.length === 0 || names.includes(name)
  const offered = upstream?.platforms ?? []
  const gone = stored
    .map(platformOf)
    .filter(({ os, arch }) => !offered.some((one) => one.os === os && one.arch === arch))
  const platforms = [...offered, ...gone].filter(
    ({ os, arch }) => fits(operatingSystems, os) && fits(architectures, arch),
  )
  const missing = namedPlatforms(operatingSystems, architectures).filter(
    (wanted) => !platforms.some((has) => matches(wanted, has)),
  )
  // Protocols of the provider's config win over upstream's.
  const protocols = own === undefined && upstream ? { protocols: upstream.protocols } : {}
  return {
    desired: platforms.map(({ os, arch }) => ({ spelled, version, os, arch, ...protocols })),
    skipped: missing.map(({ os = '*', arch = '*' }) => ({
      version,
      platform: `${os}/${arch}`,
      message: 'upstream does not have this platform',
    })),
  }
}

/** Platforms that a config names; an empty list names none. */
function namedPlatforms(
  systems: readonly string[],
  architectures: readonly string[],
): Partial<Platform>[] {
  if (systems.length === 0) return architectures.map((arch) => ({ arch }))
  if (architectures.length === 0) return systems.map((os) => ({ os }))
  return systems.flatMap((os) => architectures.map((arch) => ({ os, arch })))
}

function matches({ os, arch }: Partial<Platform>, has: Platform): boolean {
  return (os === undefined || os === has.os) && (arch === undefined || arch === has.arch)
}

const lookupMs = 10_000

type Origin = Pick<NonNullable<Provider['status']>, 'upstreamAddress' | 'resolvedSourceRepository'>

/**
 * Finds out where a provider comes from, and where its source repository is: from the registry, which is asked once, and
 * when a person requests a sync. A failure is logged, and the next process asks again: only a link is missing until then.
 *
 * @param upstream undefined: the provider comes from no registry
 * @returns fields of the status
 */
async function originOf(
  { unsourced, log, dryRun }: Pick<Context, 'unsourced' | 'log' | 'dryRun'>,
  { metadata, spec, status }: StoredObject,
  upstream: ProviderUpstream | undefined,
  { signal, urgent }: { readonly signal: AbortSignal; readonly urgent: boolean },
): Promise<Origin> {
  const before = (status ?? {}) as Origin
  const address = upstream?.address
  const isMoved = before.upstreamAddress !== undefined && before.upstreamAddress !== address
  const known = isMoved ? undefined : before.resolvedSourceRepository
  const origin = { upstreamAddress: address, resolvedSourceRepository: known }
  const isGiven = (spec as Provider['spec']).providerConfig.sourceRepository !== undefined
  const isAsked = known !== undefined || unsourced.get(metadata.uid) === address
  if (upstream === undefined || isGiven || dryRun !== undefined || (isAsked && !urgent)) {
    return origin
  }
  try {
    const deadline = within(signal, lookupMs)
    const found = await upstream.sourceRepository({ signal: deadline, urgent })
    return { ...origin, resolvedSourceRepository: found ?? '' }
  } catch (error) {
    const failure = failureOf(error)
    if (failure === undefined || signal.aborted) throw error
    const { reason, message } = failure
    log.warn(
      { provider: keyOf(metadata), reason, error: message, remedy },
      'the source repository of a provider was not found',
    )
    unsourced.set(metadata.uid, upstream.address)
    return origin
  }
}

const remedy = 'set sourceRepository in its config, or request a sync to ask again'
