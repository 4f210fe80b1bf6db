/** Finds archives in storage that no Version refers to, such as those of an upload that was killed at the wrong moment. */

import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import { Turns } from '../../../base/pacing/pacing.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import {
  isAllKnown,
  isLinked,
  neededFiles,
  othersNaming,
  placedOrNothing,
} from '../version/references.ts'

/** Younger ones may belong to work that goes on. */
const minAgeMs = 24 * 60 * 60_000
/** Names that only reconcilers give: they hold the beginning of a digest. */
const ownName = /[-_][0-9a-f]{12}\.(zip|tar\.gz|SHA256SUMS|SHA256SUMS\.sig|keys\.asc)$/

interface SweptPlace {
  readonly place: ArchivePlace
  readonly placeId: string
  readonly files: Set<string>
  /** Whether one of the namespaces that store here may do so. */
  isGranted: boolean
}

/** What Versions name. */
interface Named {
  readonly places: ReadonlyMap<string, SweptPlace>
  /** By Versions whose place is not known, and by those that changed since: these files are needed, wherever they are. */
  readonly anywhere: Set<string>
}

/**
 * Reports orphans by log and metric, and removes them where that is wanted. Places are found by the Versions that are there:
 * where there is none any more, nothing is looked for. What may be needed by something that is not known is no orphan.
 *
 * @returns the names of the orphans
 */
export async function sweep(
  context: Context,
  { isDeleting, signal }: { readonly isDeleting: boolean; readonly signal: AbortSignal },
): Promise<string[]> {
  const unreadable = context.objects.unreadable()
  if (unreadable !== undefined) {
    context.log.warn({ unreadable }, 'not swept, because what cannot be read may need any archive')
    return []
  }
  const orphans: string[] = []
  const named: { -readonly [K in keyof Named]: Named[K] } = {
    places: new Map(),
    anywhere: new Set(),
  }
  const forget = context.objects.onChange((_, __, after) => note(named.anywhere, after))
  try {
    named.places = await placesOf(context, named.anywhere)
    for (const swept of named.places.values()) {
      if (signal.aborted) break
      if (!swept.isGranted) continue
      try {
        for await (const fileName of orphansIn(context, swept, named)) {
          const name = swept.place.object(fileName)
          const remove = () => swept.place.driver.remove(name)
          if (isDeleting && !(await context.inUse.remove(swept.placeId, fileName, remove))) continue
          orphans.push(name)
        }
      } catch (err) {
        context.log.warn({ place: swept.place.prefix, err }, 'a place was not swept')
      }
    }
  } finally {
    forget()
  }
  context.metrics.orphans(isDeleting ? 0 : orphans.length)
  if (orphans.length > 0) {
    const objects = orphans.slice(0, 20)
    context.log.warn({ count: orphans.length, objects, isDeleting }, 'archives without a Version')
  }
  return orphans
}

async function* orphansIn(
  context: Context,
  swept: SweptPlace,
  { places, anywhere }: Named,
): AsyncGenerator<string> {
  const { place, files } = swept
  const isNamed = (name: string) => [...places.values()].some((other) => other.files.has(name))
  for await (const { object, changedAtMs } of place.driver.list(place.prefix)) {
    const fileName = object.slice(place.prefix.length)
    // In a folder below is the place of others, who are asked for it by its names.
    if (fileName.includes('/')) continue
    const isOld = changedAtMs + minAgeMs <= context.clock()
    if (!isOld || !ownName.test(fileName) || files.has(fileName)) continue
    if (!isAllKnown(context, swept, fileName)) continue
    if (isNamed(fileName)) {
      const { elsewhere } = othersNaming(context, swept, fileName)
      if (await isLinked(place, elsewhere, fileName)) continue
    }
    // Looked at last, so that nothing can come between this and the removal.
    if (!anywhere.has(fileName)) yield fileName
  }
}

/** Where the archives of all Versions are, with the files that belong there. */
async function placesOf(
  context: Context,
  anywhere: Set<string>,
): Promise<ReadonlyMap<string, SweptPlace>> {
  const places = new Map<string, SweptPlace>()
  const turns = new Turns()
  for (const object of context.objects.list('Version')) {
    await turns.yieldIfDue()
    const placed = placedOrNothing(context, object)
    if (placed === undefined) {
      note(anywhere, object)
      continue
    }
    const { place, placeId } = placed
    const known = places.get(placeId) ?? { place, placeId, files: new Set(), isGranted: false }
    known.isGranted ||= place.isGrantedTo(object.metadata.namespace)
    for (const file of neededFiles(object)) known.files.add(file)
    places.set(placeId, known)
  }
  return places
}

function note(files: Set<string>, object: StoredObject | undefined): void {
  if (object?.kind !== 'Version') return
  for (const file of neededFiles(object)) files.add(file)
}
