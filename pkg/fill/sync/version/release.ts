import { awaitedPlatforms, openReleaseOf, type Version } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Reconciled } from '../../queue/queue.ts'
import { FillError } from '../../sources/sources.ts'
import { type Context, msOf, refOf } from '../context.ts'
import { ownedBy } from '../parent/children.ts'
import { versionOfStored } from '../parent/desired.ts'
import { resourceOf } from '../resource.ts'
import { parentOfVersion } from './parent-of.ts'
import type { VersionWork } from './work.ts'

/** All platforms of a release are created within moments. It is reported if they take longer. */
const publishingMs = 60_000

type Work = Pick<VersionWork, 'object' | 'version'>

/**
 * Holds a Version back until all platforms that were published with it have one, so that nobody is served half of a release.
 *
 * @returns when to look again; undefined: nothing is missing
 * @throws FillError ReleaseIncomplete
 */
export function awaitRelease(
  { objects, clock }: Pick<Context, 'objects' | 'clock'>,
  { object: { metadata }, version }: Work,
): Reconciled | undefined {
  if (openReleaseOf(version) === undefined) return undefined
  const siblings = siblingsOf(objects, version).map((one) => one.version)
  const lacking = awaitedPlatforms(version, siblings)
  if (lacking.length === 0) return undefined
  const leftMs = (msOf(metadata.creationTimestamp) ?? 0) + publishingMs - clock()
  if (leftMs > 0) return { afterMs: leftMs }
  throw new FillError(
    'ReleaseIncomplete',
    `the release lacks ${lacking.join(', ')}: run depot publish provider again with the same zips, or delete the Versions of this release`,
  )
}

/** Requests work on the platforms that wait for a new one, whatever becomes of its archive. */
export function wakeRelease(
  { objects, wake }: Pick<Context, 'objects' | 'wake'>,
  { object, version }: Work,
): void {
  if (version.spec.type !== 'Provider' || version.status?.checksum) return
  for (const sibling of siblingsOf(objects, version)) {
    const isOther = sibling.object.metadata.uid !== object.metadata.uid
    if (isOther && openReleaseOf(sibling.version) !== undefined) wake(refOf(sibling.object), 'user')
  }
}

/** Versions of the same version and provider: those that people published, and those that a Depot fetched. */
function siblingsOf(
  objects: Context['objects'],
  version: Version,
): { readonly object: StoredObject; readonly version: Version }[] {
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
    .flatMap((object) => {
      const sibling = attempt(() => resourceOf('Version', object))
      return sibling ? { object, version: sibling } : []
    })
}

/** The name of its provider, without reading the rest, which takes long. */
function providerOf({ spec }: StoredObject): string | undefined {
  const { type, providerConfigRef } = spec as Partial<Version['spec']>
  return type === 'Provider' ? providerConfigRef?.name : undefined
}
