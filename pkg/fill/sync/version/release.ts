import {
  awaitedPlatforms,
  openReleaseOf,
  takenTextOf,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import {
  type Objects,
  refOf,
  type StoredObject,
  type StoredRef,
} from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import { keyOf, resourceOf } from '../objects.ts'
import { ownedBy, parentOfVersion, versionOfStored } from '../parent/versions.ts'
import { msOf } from '../timings.ts'
import type { VersionWork } from './work.ts'

/** All platforms of a release are created within moments. It is reported if they take longer. */
const publishingMs = 60_000

type Work = Pick<VersionWork, 'object' | 'version'>
type Records = Pick<Objects, 'get' | 'list'>

interface Awaiting {
  readonly objects: Records
  readonly clock: Clock
  readonly awaited: AwaitedReleases
}

/**
 * Holds a Version back until all platforms that were published with it have one, so that nobody is served half of a release.
 *
 * @returns when to look again; undefined: nothing is missing
 * @throws FillError ReleaseIncomplete
 */
export function awaitRelease(
  { objects, clock, awaited }: Awaiting,
  { object, version }: Work,
): Reconciled | undefined {
  const { metadata } = object
  awaited.end(keyOf(metadata))
  if (openReleaseOf(version) === undefined) return undefined
  const siblings = siblingsOf(objects, version)
  const lacking = awaitedPlatforms(version, siblings)
  if (lacking.length === 0) return undefined
  awaited.wait(releaseIdOf(object), refOf(object))
  const leftMs = (msOf(metadata.creationTimestamp) ?? 0) + publishingMs - clock()
  if (leftMs > 0) return { afterMs: leftMs }
  throw new FillError(
    'ReleaseIncomplete',
    `the release lacks ${lacking.join(', ')}: run depot publish provider again with the same zips, or delete the Versions of this release${takenTextOf(version, siblings)}`,
  )
}

interface Waking extends Pick<Awaiting, 'awaited'> {
  readonly wake: (ref: StoredRef, priority: 'user') => void
}

/**
 * Requests work on the platforms that wait for this one, or for its removal. It must not wait itself, because two that wait
 * would wake each other for ever.
 */
export function wakeRelease({ awaited, wake }: Waking, object: StoredObject): void {
  for (const ref of awaited.take(releaseIdOf(object))) wake(ref, 'user')
}

const releaseIdOf = (object: StoredObject): string =>
  `${object.metadata.namespace}/${providerOf(object)} ${versionOfStored(object)}`

/** Versions of the same version and provider: those that people published, and those that a Depot fetched. */
function siblingsOf(objects: Records, version: Version): readonly Version[] {
  const number = versionOfStored(version)
  const { namespace } = version.metadata
  const parent = parentOfVersion({ objects }, version)
  // A watch may deliver a Provider after its first Versions.
  const published = objects
    .list('Version', { namespace, ownerUid: '' })
    .filter((object) => providerOf(object) === version.spec.providerConfigRef?.name)
  return [...(parent ? ownedBy({ objects }, parent) : []), ...published]
    .filter(
      (object) =>
        versionOfStored(object) === number && object.metadata.deletionTimestamp === undefined,
    )
    .flatMap((object) => attempt(() => resourceOf('Version', object)) ?? [])
}

/** The name of its provider, without reading the rest, which takes long. */
function providerOf({ spec }: StoredObject): string | undefined {
  const { type, providerConfigRef } = spec as Partial<Version['spec']>
  return type === 'Provider' ? providerConfigRef?.name : undefined
}

/** The Versions that wait for other platforms of their release. */
export class AwaitedReleases {
  readonly #waiting = new Map<string, Map<string, StoredRef>>()
  /** The release for which a Version waits. */
  readonly #releases = new Map<string, string>()

  /** @param release a version of a provider */
  wait(release: string, ref: StoredRef): void {
    const key = keyOf(ref)
    this.end(key)
    this.#releases.set(key, release)
    const waiting = this.#waiting.get(release) ?? new Map<string, StoredRef>()
    this.#waiting.set(release, waiting.set(key, ref))
  }

  /** Forgets a Version that does not wait any more. */
  end(key: string): void {
    const release = this.#releases.get(key) ?? ''
    this.#releases.delete(key)
    const waiting = this.#waiting.get(release)
    waiting?.delete(key)
    if (waiting?.size === 0) this.#waiting.delete(release)
  }

  /** Takes those that wait for other platforms of a release. */
  take(release: string): readonly StoredRef[] {
    const refs = [...(this.#waiting.get(release)?.values() ?? [])]
    for (const ref of refs) this.end(keyOf(ref))
    return refs
  }
}
