import { setTimeout as sleep } from 'node:timers/promises'
import {
  incompleteReleasesIn,
  openReleaseOf,
  type ReleasedPlatforms,
  releaseText,
} from '../../api/v1alpha1/v1alpha1.ts'
import { hasReason, unavailable } from '../../base/errors/errors.ts'
import { refOf, type StoredObject } from '../../records/store/store.ts'
import { FillError, type Platform } from '../sources/sources.ts'
import type { PublishContext } from './plan.ts'
import { bothTexts, nameOf, platformOf, platformText, type Sibling, type Target } from './target.ts'

/*
 * Releases that were started and never served: a kill or a permanent error came before the last platform had its Version.
 */

/** The part of an archive by which releases are compared. */
export interface Digest {
  readonly file: { readonly sha256: string }
  readonly platform: Platform
}

/** The part of a publication that decides about other publications. */
export type Publishing = Pick<PublishContext, 'objects' | 'publisher' | 'clock'>

/** A Version that waits for other platforms. */
interface Unfinished {
  readonly sibling: Sibling
  readonly platform: string
  readonly release: string
  readonly lacking: readonly string[]
}

/** After that, nobody is creating the platforms of a release any more. */
const abandonedMs = 60_000

/** The list that each Version of a release has. */
export const releaseOf = (archives: readonly Digest[]): ReleasedPlatforms =>
  archives
    .map(({ file: { sha256 }, platform }) => ({ platform: platformText(platform), sha256 }))
    .toSorted((a, b) => (a.platform < b.platform ? -1 : 1))

function unfinishedIn(siblings: readonly Sibling[]): readonly Unfinished[] {
  const versions = Map.groupBy(siblings, ({ version }) => version)
  return [...versions.values()].flatMap((same) => {
    const incomplete = incompleteReleasesIn(same.map(({ resource }) => resource))
    return same.flatMap((sibling) => {
      const { resource } = sibling
      const release = releaseText(openReleaseOf(resource) ?? [])
      const lacking = incomplete.get(release)
      return lacking ? [{ sibling, platform: platformOf(sibling), release, lacking }] : []
    })
  })
}

function without(target: Target, isLeftOut: (one: Unfinished) => boolean): Target {
  return {
    ...target,
    siblings(isWanted) {
      const all = target.siblings(isWanted)
      const left = new Set(
        unfinishedIn(all)
          .filter(isLeftOut)
          .map(({ sibling }) => sibling),
      )
      return all.filter((sibling) => !left.has(sibling))
    },
  }
}

/** A target with the Versions that are served, or were. */
export const served = (target: Target): Target => without(target, () => true)

/** A target without the releases that these archives do not finish. */
export function withoutOthers(target: Target, archives: readonly Digest[]): Target {
  const own = releaseText(releaseOf(archives))
  return without(target, ({ release }) => release !== own)
}

/** Versions of releases that these archives do not finish, and of the one that they finish. */
export function unfinishedOf(
  { siblings, version }: Target,
  archives: readonly Digest[],
): { readonly others: readonly Unfinished[]; readonly ours: readonly Unfinished[] } {
  const own = releaseText(releaseOf(archives))
  const all = unfinishedIn(siblings((one) => one === version))
  return {
    others: all.filter(({ release }) => release !== own),
    ours: all.filter(({ release }) => release === own),
  }
}

/** The refusal of a release while another one of its version is being published, or cannot be replaced by it. */
export function unfinishedRefused(
  { objects, publisher, clock }: Publishing,
  target: Target,
  archives: readonly Digest[],
): FillError | undefined {
  const { others } = unfinishedOf(target, archives)
  const [first] = others
  if (first === undefined) return undefined
  const ours = new Map(archives.map((one) => [platformText(one.platform), one] as const))
  const { sibling, platform, lacking } = others.find((one) => ours.has(one.platform)) ?? first
  const own = ours.get(platform) ?? archives[0]
  if (own === undefined) return undefined
  const digests = bothTexts(sibling, own)
  const what = `${target.version} was started with other zips and is not served, because it lacks ${lacking.join(', ')}: ${digests}. Finish it with the original zips`
  const refusal = (rest: string) => new FillError('ReleaseIncomplete', `${what}, or ${rest}`)
  // A person's credentials may allow them to create Versions, but not to delete them.
  const mayDelete = objects.isFolder || publisher !== undefined
  const stuck = others.filter((one) => !mayDelete || !isReplaceable(one, target, archives))
  if (stuck.length > 0) {
    return refusal(`delete ${stuck.map((one) => nameOf(one.sibling.object)).join(', ')} first`)
  }
  if (objects.isFolder || clock() - newestMs(others) >= abandonedMs) return undefined
  return refusal('publish this release again in a minute, which replaces it')
}

/**
 * Whether a release has, or can take, a platform that another one lacks, with other bytes. Then the other one can never be
 * complete, and its Versions can be deleted. If each has such a platform, the later one goes on.
 */
function isReplaceable(
  { release, lacking }: Unfinished,
  target: Target,
  archives: readonly Digest[],
): boolean {
  const { others, ours } = unfinishedOf(target, archives)
  const theirs = others.filter((one) => one.release === release)
  const wanted = new Set(release.split('\n'))
  return archives.some(({ platform, file: { sha256 } }) => {
    const text = platformText(platform)
    if (!lacking.includes(text) || wanted.has(`${text} ${sha256}`)) return false
    if (others.some((one) => one.platform === text)) return false
    return !ours.some((one) => one.platform === text) || newestMs(ours) >= newestMs(theirs)
  })
}

const newestMs = (some: readonly Unfinished[]): number =>
  Math.max(
    ...some.map(({ sibling: { object } }) => Date.parse(object.metadata.creationTimestamp) || 0),
  )

const goneMs = 10_000
const lookAgainMs = 20

/** Deletes Versions that were never served. @throws ApiError; RegistryError Unavailable */
export async function removeVersions(
  { objects }: Pick<PublishContext, 'objects'>,
  versions: readonly StoredObject[],
): Promise<void> {
  for (const object of versions) {
    await objects.delete(refOf(object), { uid: object.metadata.uid, byAnyReplica: true })
  }
  const untilMs = performance.now() + goneMs
  const isThere = ({ kind, metadata: { namespace, name, uid } }: StoredObject) =>
    objects.get(kind, namespace, name)?.metadata.uid === uid
  while (versions.some(isThere)) {
    if (performance.now() > untilMs) {
      throw unavailable(`${versions.filter(isThere).map(nameOf).join(', ')} is still being deleted`)
    }
    await sleep(lookAgainMs)
  }
}

/**
 * Removes from complete Versions what they say about their release, so that each of them is served on its own from now on. A
 * controller that publishes leaves that to the statuses.
 *
 * @throws ApiError
 */
export async function closeRelease(
  { objects, publisher }: Publishing,
  target: Target,
  archives: readonly Digest[],
): Promise<void> {
  if (publisher !== undefined) return
  const own = releaseText(releaseOf(archives))
  for (const { object, resource } of target.siblings((one) => one === target.version)) {
    const open = openReleaseOf(resource)
    if (open === undefined || releaseText(open) !== own) continue
    try {
      await objects.patch(refOf(object), { spec: { upload: { release: null } } })
    } catch (error) {
      // Whoever may only create leaves it to the controller, too.
      if (objects.isFolder || !hasReason(error, 'Forbidden')) throw error
      return
    }
  }
}
