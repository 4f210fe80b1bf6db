/** Finds stored Versions that upstream has with other content by now, without fetching an archive. */

import type { ProviderConfig, Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { eachLimited } from '../../../base/pacing/pacing.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { FillError, type UpstreamVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import { ownedBy } from '../parent/versions.ts'
import { readyIn } from '../status.ts'
import { within } from '../timings.ts'
import { ruleBasis } from '../version/plan.ts'
import { type OtherContent, versionStatus } from '../version/work.ts'

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
  const bare = (version: string) => version.replace(/^v/i, '')
  const listed = new Map(versions.map((one) => [bare(one.version), one]))
  for (const child of ownedBy(context, module)) {
    const seen = seenRevision(child)
    const one = listed.get(bare((child.spec as { version: string }).version))
    if (seen === undefined || one?.commit === undefined || seen.endsWith(`:${one.commit}`)) continue
    wakeOutdated(context, child, isHeld(one) ? { isHeld: true } : {})
  }
}

/**
 * Wakes Versions of a Provider whose signer a rule refused: at once if the rules have changed, otherwise once a day, because the
 * release may have another signature by then.
 */
export function wakeRefused(context: Context, provider: StoredObject): void {
  const rules = ruleBasis(context, { parent: provider, type: 'Provider' })
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
