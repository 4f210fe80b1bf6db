/** Finds archives in storage that no Version refers to, such as those of an upload that was killed. */

import { Turns } from '../../base/pacing/pacing.ts'
import type { StoredObject } from '../../records/store/store.ts'
import type { Context } from './context.ts'
import {
  isAllKnown,
  isLinked,
  neededFiles,
  neededNames,
  othersNaming,
  placedOrNothing,
} from './version/remove.ts'
import { sweepPublications } from './version/upload.ts'
import type { StoragePlace } from './version/work.ts'

/** Younger archives may belong to running work. */
const minAgeMs = 24 * 60 * 60_000
/** Names that only reconcilers give: they contain the beginning of a digest. */
const ownName =
  /[-_][0-9a-f]{12}\.(zip|tar\.gz|docs\.json\.gz|source\.zip|SHA256SUMS|SHA256SUMS\.sig|keys\.asc)$/

interface SweptPlace {
  readonly at: StoragePlace
  readonly files: Set<string>
  /** Whether one of the namespaces that store here is granted the place. */
  isGranted: boolean
}

/** Files that Versions name. */
interface NamedFiles {
  readonly places: ReadonlyMap<string, SweptPlace>
  /** Files of Versions without a known place, or changed during the sweep: they are needed in every place. */
  readonly anywhere: Set<string>
}

/** Sweeps at each interval. @returns stops it */
export function sweepDaily(context: Context, isDeleting: boolean): () => Promise<void> {
  const stop = new AbortController()
  let running: Promise<unknown> = Promise.resolve()
  const timer = setInterval(() => {
    running = running
      .then(() => sweepPublications(context))
      .then(() => sweep(context, isDeleting, stop.signal))
  }, context.timings.sweepMs)
  timer.unref()
  return async () => {
    clearInterval(timer)
    stop.abort()
    await running
  }
}

/**
 * Reports orphans in the log and a metric, and removes them if that is wanted. It only looks at places that existing Versions
 * use. An archive that an unknown Version may need is not an orphan.
 */
async function sweep(context: Context, isDeleting: boolean, signal: AbortSignal): Promise<void> {
  const unreadable = context.objects.unreadable()
  if (unreadable !== undefined) {
    context.log.warn(
      { unreadable },
      'unused archives stay, because an unreadable file may need them',
    )
    return
  }
  const orphans: string[] = []
  const anywhere = new Set<string>()
  const forget = context.objects.onChange((_, __, after) => note(anywhere, after))
  try {
    const named = { anywhere, places: await placesOf(context, anywhere) }
    for (const swept of named.places.values()) {
      if (signal.aborted) break
      if (!swept.isGranted) continue
      try {
        for await (const fileName of orphansIn(context, swept, named)) {
          const { place, placeId } = swept.at
          const name = place.object(fileName)
          const remove = () => place.driver.remove(name)
          if (isDeleting && !(await context.inUse.remove(placeId, fileName, remove))) continue
          orphans.push(name)
        }
      } catch (err) {
        context.log.warn(
          { place: swept.at.place.prefix, err },
          'search for unused archives in a storage location failed',
        )
      }
    }
  } finally {
    forget()
  }
  context.metrics.orphans(isDeleting ? 0 : orphans.length)
  if (orphans.length > 0) {
    const objects = orphans.slice(0, 20)
    context.log.warn(
      { count: orphans.length, objects, isDeleting },
      'storage has archives without a Version',
    )
  }
}

async function* orphansIn(
  context: Context,
  swept: SweptPlace,
  { places, anywhere }: NamedFiles,
): AsyncGenerator<string> {
  const { at, files } = swept
  const { place } = at
  const isNamed = (name: string) => [...places.values()].some((other) => other.files.has(name))
  for await (const { object, changedAtMs } of place.driver.list(place.prefix)) {
    const fileName = object.slice(place.prefix.length)
    // A folder below is another place, which is swept by its own name.
    if (fileName.includes('/')) continue
    const isOld = changedAtMs + minAgeMs <= context.clock()
    if (!isOld || !ownName.test(fileName) || files.has(fileName)) continue
    if (!isAllKnown(context, { fileName, at })) continue
    if (isNamed(fileName)) {
      const { elsewhere } = othersNaming(context, { fileName, at })
      if (await isLinked(place, elsewhere, fileName)) continue
    }
    // Checked last, so that nothing can happen between this and the removal.
    if (!anywhere.has(fileName)) yield fileName
  }
}

/** Finds the places of all Versions, with the files that belong there. */
async function placesOf(
  context: Context,
  anywhere: Set<string>,
): Promise<ReadonlyMap<string, SweptPlace>> {
  const places = new Map<string, SweptPlace>()
  const turns = new Turns()
  const left = context.removals.all.map(({ object }) => object)
  for (const object of [...context.objects.list('Version'), ...left]) {
    await turns.yieldIfDue()
    const wanted = placedOrNothing(context, object)
    const needed = neededFiles(context, object)
    if (wanted === undefined || needed === undefined) {
      note(anywhere, object)
      continue
    }
    const swept = (at: StoragePlace): SweptPlace => {
      const known = places.get(at.placeId) ?? { at, files: new Set(), isGranted: false }
      known.isGranted ||= at.place.isGrantedTo(object.metadata.namespace)
      places.set(at.placeId, known)
      return known
    }
    swept(wanted)
    for (const { at, fileName } of needed) swept(at).files.add(fileName)
  }
  return places
}

function note(files: Set<string>, object: StoredObject | undefined): void {
  if (object?.kind !== 'Version') return
  for (const file of neededNames(object)) files.add(file)
}
