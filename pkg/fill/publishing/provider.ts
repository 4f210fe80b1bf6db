import { setTimeout as sleep } from 'node:timers/promises'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason, mayPass, ReasonError, unavailable } from '../../base/errors/errors.ts'
import { backoffMs, type Clock } from '../../base/pacing/pacing.ts'
import { FillError, verifySignature } from '../sources/sources.ts'
import { identityOf } from '../sync/sync.ts'
import { backRefused, type PublishContext } from './plan.ts'
import { createParent, createVersion, requireWritable, storeArchive } from './publish.ts'
import { checksumsOf, findRelease, inspectRelease, type ReleaseArchive } from './release.ts'
import {
  conflictOf,
  grantedPlace,
  otherBuildOf,
  type PublishAddress,
  platformsOf,
  platformText,
  publishedAs,
  type Target,
  targetOf,
} from './target.ts'
import {
  closeRelease,
  type Digest,
  type Publishing,
  releaseOf,
  removeVersions,
  served,
  unfinishedOf,
  unfinishedRefused,
  withoutOthers,
} from './unfinished.ts'

interface AskedRelease {
  /** Folder of the zips of a release, as GoReleaser writes it. */
  readonly folder: string
  /** The folder in messages. Default: its path. */
  readonly shownAs?: string
  readonly address: PublishAddress
  /** Undefined: the one of all zips. */
  readonly version: string | undefined
  readonly storage: StorageConfig | undefined
}

/** The zips of a release, and all problems that prevent its publication. */
export interface ProviderPublication {
  readonly target: Target
  readonly archives: readonly (ReleaseArchive & { readonly isThere: boolean })[]
  /** Fingerprint of the key that signed the checksums. */
  readonly signer: string | undefined
  readonly refusals: readonly FillError[]
}

/**
 * Checks the zips of a release. Nothing is stored.
 *
 * @param context.limits those of providers
 * @throws FillError, ArchiveError
 */
export async function planProvider(
  context: PublishContext,
  { folder, shownAs, address, version, storage }: AskedRelease,
): Promise<ProviderPublication> {
  const release = await findRelease({ folder, shownAs, type: address.name, version })
  const target = targetOf(context.objects, address, release.version, { storage })
  grantedPlace(context, target)
  const checksums = await checksumsOf(release)
  const signer = await signerOf(checksums, target, context.clock)
  const inspected = await inspectRelease(context, release, checksums.sums)
  const own = withoutOthers(target, inspected)
  const archives = inspected.map((archive) => ({ ...archive, isThere: isThere(own, archive) }))
  return { target, archives, signer, refusals: refusalsOf(context, target, archives) }
}

const isThere = (target: Target, { file: { sha256 }, platform }: Digest): boolean =>
  publishedAs(target, { sha256, platform }) !== undefined

/** All problems that prevent the publication of these digests. */
export function refusalsOf(
  context: Publishing,
  target: Target,
  archives: readonly Digest[],
): readonly FillError[] {
  const known = served(target)
  // Platforms that were left out may follow later versions.
  const isBegun = archives.some((archive) => isThere(known, archive))
  const back = isBegun ? undefined : backRefused(known)
  return [...(back === undefined ? [] : [back]), ...conflictsOf(context, target, archives)]
}

/** All platforms of a version come from one build, whose archives are those of the release. */
function conflictsOf(
  context: Publishing,
  target: Target,
  archives: readonly Digest[],
): readonly FillError[] {
  const own = withoutOthers(target, archives)
  return [
    otherBuildOf(own, archives),
    ...archives.map(({ file: { sha256 }, platform }) => conflictOf(own, { sha256, platform })),
    unfinishedRefused(context, target, archives),
  ].filter((refusal) => refusal !== undefined)
}

/**
 * Stores every zip, then creates the Provider if it is missing, then a Version for each platform. None is served before all
 * are there. A kill between two of these, or an error that stays, leaves Versions that wait. The next run with these zips
 * adds the others, and one with other zips replaces them.
 *
 * @returns `exists` if all platforms were served with these files before
 * @throws FillError why it is refused; RegistryError, ApiError
 */
export async function publishProvider(
  context: PublishContext,
  { target, archives, refusals }: ProviderPublication,
): Promise<'published' | 'exists'> {
  refuse(refusals)
  const missingOnes = archives.filter((archive) => !archive.isThere)
  for (const archive of missingOnes) requireWritable(target, archive)
  const place = grantedPlace(context, target)
  for (const archive of missingOnes) await storeArchive(context, place, archive)
  const wasMissing = await createParent(context, target)
  // Another build may have been faster, or published a platform meanwhile.
  refuse(conflictsOf(context, target, archives))
  await createRelease(context, target, archives, missingOnes)
  requireWhole(target, archives)
  await closeRelease(context, target, archives)
  return wasMissing || missingOnes.length > 0 ? 'published' : 'exists'
}

/** A Version that was there before may have been deleted while the others were stored. @throws RegistryError Unavailable */
function requireWhole(target: Target, archives: readonly ReleaseArchive[]): void {
  const own = withoutOthers(target, archives)
  const gone = archives.filter((archive) => !isThere(own, archive))
  if (gone.length > 0) {
    const names = gone.map(({ platform }) => platformText(platform)).join(', ')
    throw unavailable(`the Version for ${names} was deleted while ${target.version} was published`)
  }
}

function refuse([refusal]: readonly FillError[]): void {
  if (refusal !== undefined) throw refusal
}

/**
 * Creates a Version for each platform, in the same order in every process. Of two builds, the one that creates the first
 * Version wins, even if they have no platform in common. In place of a release that nobody finishes, the platforms come first
 * that it lacks, because it can never be complete then.
 */
async function createRelease(
  context: PublishContext,
  target: Target,
  archives: readonly Digest[],
  missingOnes: readonly ReleaseArchive[],
): Promise<void> {
  const { others } = unfinishedOf(target, archives)
  const taken = new Set(others.map(({ sibling }) => sibling.identity))
  const isTaken = ({ platform }: Digest) =>
    taken.has(identityOf({ version: target.version, ...platform }))
  const release = archives.length > 1 ? releaseOf(archives) : undefined
  const isFirst = !context.objects.isFolder && platformsOf(target).length === 0
  let claim = isFirst ? () => refuse(conflictsOf(context, target, archives)) : undefined
  const create = async (some: readonly ReleaseArchive[]): Promise<void> => {
    for (const archive of some) {
      const how = { release, claim }
      const outcome = await untilTaken(() => createVersion(context, target, archive, how))
      claim = undefined
      if (outcome === 'exists' && !isThere(withoutOthers(target, archives), archive)) {
        throw new FillError(
          'ReleaseIncomplete',
          `${archive.fileName} was just published with another build of ${target.version}: if that build is not complete in a minute, publish this release again`,
        )
      }
    }
  }
  const inOrder = missingOnes.toSorted((a, b) => (a.fileName < b.fileName ? -1 : 1))
  try {
    await create(inOrder.filter((archive) => !isTaken(archive)))
    const replaced = others.map(({ sibling }) => sibling.object)
    await removeVersions(context, replaced)
    await create(inOrder.filter(isTaken))
  } catch (error) {
    // Another build has a platform, so this one can never be complete.
    if (hasReason(error, 'VersionExists') || hasReason(error, 'ReleaseIncomplete')) {
      const ours = unfinishedOf(target, archives).ours.map(({ sibling }) => sibling.object)
      await removeVersions(context, ours).catch(() => undefined)
    }
    throw error
  }
}

const attempts = 5
const pauses = { firstMs: 500, capMs: 4000, jitter: 'equal' } as const

/** Creates one of several platforms. It does not end when the caller leaves, and survives a short failure of the API server. */
async function untilTaken<T>(create: () => Promise<T>): Promise<T> {
  for (let failures = 1; ; failures += 1) {
    try {
      return await create()
    } catch (error) {
      const helps = error instanceof ReasonError && mayPass(error.reason)
      if (!helps || failures === attempts) throw error
      await sleep(backoffMs(pauses, failures))
    }
  }
}

/** A Provider with `trustedKeys` takes only what one of them signed. @throws FillError */
async function signerOf(
  { name, shasums, signature }: Awaited<ReturnType<typeof checksumsOf>>,
  { config: { trustedKeys = [] } }: Target,
  clock: Clock,
): Promise<string | undefined> {
  if (trustedKeys.length === 0) return undefined
  if (shasums === undefined || signature === undefined) {
    throw new FillError(
      'Unsigned',
      `the provider has trustedKeys, and ${name}${shasums === undefined ? '' : '.sig'} is missing: sign the checksums with one of them`,
    )
  }
  const input = { shasums, signature, offered: [], trustedKeys, nowMs: clock() }
  const { signer } = await verifySignature(input)
  return signer.fingerprint
}
