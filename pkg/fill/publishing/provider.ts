import { setTimeout as sleep } from 'node:timers/promises'
import type { StorageConfig } from '../../api/v1alpha1/v1alpha1.ts'
import { mayPass, ReasonError } from '../../base/errors/errors.ts'
import { backoffMs } from '../../base/pacing/pacing.ts'
import { FillError, type Platform, verifySignature } from '../sources/sources.ts'
import { backRefused, type PublishContext } from './plan.ts'
import { createParent, createVersion, requireWritable, storeArchive } from './publish.ts'
import { checksumsOf, findRelease, inspectRelease, type ReleaseArchive } from './release.ts'
import {
  conflictOf,
  grantedPlace,
  otherBuildOf,
  type PublishAddress,
  publishedAs,
  type Target,
  targetOf,
} from './target.ts'

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

/** The zips of a release, and everything that is in its way. */
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
  const signer = await signerOf(checksums, target)
  const inspected = await inspectRelease(context, release, checksums.sums)
  const archives = inspected.map((archive) => ({ ...archive, isThere: isThere(target, archive) }))
  return { target, archives, signer, refusals: refusalsOf(target, archives) }
}

/** The part of an archive by which versions are compared. */
interface Digest {
  readonly file: { readonly sha256: string }
  readonly platform: Platform
}

const isThere = (target: Target, { file: { sha256 }, platform }: Digest): boolean =>
  publishedAs(target, { sha256, platform }) !== undefined

/** Everything that is in the way of a release with these digests. */
export function refusalsOf(target: Target, archives: readonly Digest[]): readonly FillError[] {
  // The rest of a version may follow later ones: a run may have been killed.
  const isBegun = archives.some((archive) => isThere(target, archive))
  const back = isBegun ? undefined : backRefused(target)
  return [...(back === undefined ? [] : [back]), ...conflictsOf(target, archives)]
}

/** All platforms of a version come from one build, whose archives are those of the release. */
const conflictsOf = (target: Target, archives: readonly Digest[]): readonly FillError[] =>
  [
    otherBuildOf(target, archives),
    ...archives.map(({ file: { sha256 }, platform }) => conflictOf(target, { sha256, platform })),
  ].filter((refusal) => refusal !== undefined)

/**
 * Stores every zip, then creates the Provider if it is missing, then a Version for each platform. A kill between two of
 * these, or an error that stays, leaves some platforms published. The next run with these zips adds the others.
 *
 * @returns `exists` if all platforms were served with these files before
 * @throws FillError why it is refused; RegistryError, ApiError
 */
export async function publishProvider(
  context: PublishContext,
  { target, archives, refusals }: ProviderPublication,
): Promise<'published' | 'exists'> {
  const refuse = ([refusal]: readonly FillError[]): void => {
    if (refusal !== undefined) throw refusal
  }
  refuse(refusals)
  const missingOnes = archives.filter((archive) => !archive.isThere)
  for (const archive of missingOnes) requireWritable(target, archive)
  const place = grantedPlace(context, target)
  for (const archive of missingOnes) await storeArchive(context, place, archive)
  const wasMissing = await createParent(context, target)
  // Another build may have been faster, or published a platform meanwhile.
  refuse(conflictsOf(target, archives))
  for (const archive of missingOnes) {
    await untilTaken(() => createVersion(context, target, archive))
    refuse(conflictsOf(target, archives))
  }
  return wasMissing || missingOnes.length > 0 ? 'published' : 'exists'
}

const attempts = 5
const pauses = { firstMs: 500, capMs: 4000, jitter: 'equal' } as const

/** Creates one of several platforms. It does not end when the caller leaves, and survives a short failure of the API server. */
async function untilTaken(create: () => Promise<unknown>): Promise<void> {
  for (let failures = 1; ; failures += 1) {
    try {
      await create()
      return
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
): Promise<string | undefined> {
  if (trustedKeys.length === 0) return undefined
  if (shasums === undefined || signature === undefined) {
    throw new FillError(
      'Unsigned',
      `the provider has trustedKeys, and ${name}${shasums === undefined ? '' : '.sig'} is missing: sign the checksums with one of them`,
    )
  }
  const input = { shasums, signature, offered: [], trustedKeys, nowMs: Date.now() }
  const { signer } = await verifySignature(input)
  return signer.fingerprint
}
