/** Finds archives in storage that no Version refers to, such as those of an upload that was killed at the wrong moment. */
import type { ArchivePlace } from '../../storage/storage.ts'
import type { Context } from '../context.ts'
import { neededFiles, placedOrNothing } from '../version/references.ts'

/** Younger ones may belong to work that goes on. */
const minAgeMs = 24 * 60 * 60_000
/** Names that only reconcilers give: they hold the beginning of a digest. */
const ownName = /[-_][0-9a-f]{12}\.(zip|tar\.gz|SHA256SUMS|SHA256SUMS\.sig|keys\.asc)$/

interface SweptPlace {
  readonly place: ArchivePlace
  readonly files: Set<string>
  /** Whether one of the namespaces that store here may do so. */
  isGranted: boolean
}

/**
 * Reports orphans by log and metric, and removes them where that is wanted. Places are found by the Versions that are there:
 * where there is none any more, nothing is looked for.
 *
 * @returns the names of the orphans
 */
export async function sweep(
  context: Context,
  { isDeleting, signal }: { readonly isDeleting: boolean; readonly signal: AbortSignal },
): Promise<string[]> {
  const orphans: string[] = []
  for (const { place, files, isGranted } of placesOf(context).values()) {
    if (signal.aborted) break
    if (!isGranted) continue
    try {
      for await (const { object, changedAtMs } of place.driver.list(place.prefix)) {
        const fileName = object.slice(place.prefix.length)
        const isOld = changedAtMs + minAgeMs <= context.clock()
        if (!isOld || !ownName.test(fileName) || files.has(fileName)) continue
        orphans.push(object)
        if (isDeleting) await place.driver.remove(object)
      }
    } catch (err) {
      context.log.warn({ place: place.prefix, err }, 'a place was not swept')
    }
  }
  context.metrics.orphans(isDeleting ? 0 : orphans.length)
  if (orphans.length > 0) {
    const objects = orphans.slice(0, 20)
    context.log.warn({ count: orphans.length, objects, isDeleting }, 'archives without a Version')
  }
  return orphans
}

/** Where the archives of all Versions are, with the files that belong there. */
function placesOf(context: Context): Map<string, SweptPlace> {
  const places = new Map<string, SweptPlace>()
  for (const object of context.objects.list('Version')) {
    const placed = placedOrNothing(context, object)
    if (placed === undefined) continue
    const { place, placeId } = placed
    const known = places.get(placeId) ?? { place, files: new Set(), isGranted: false }
    known.isGranted ||= place.isGrantedTo(object.metadata.namespace)
    for (const file of neededFiles(object)) known.files.add(file)
    places.set(placeId, known)
  }
  return places
}
