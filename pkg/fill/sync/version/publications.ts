import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import {
  configRefOf,
  normalizeVersion,
  type Published,
  type PublishedBy,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import { jsonOf, messageOf } from '../../../base/errors/errors.ts'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Objects, StoredObject } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { msOf, timeOf } from '../timings.ts'

/** The Version that a publication creates, and who publishes it. */
interface PublicationNote {
  readonly namespace: string
  readonly name: string
  readonly version: string
  /** Name in the config of the Module or Provider. */
  readonly config: string
  readonly sha256: string
  readonly published: Published
}

type Notes = NonNullable<Objects['publications']>

/** A publication takes minutes at most. Its Version is created at its end. */
const orphanedMs = 3_600_000

/**
 * Notes who publishes a Version, before it is created. People may create Versions, too, but not notes: a Version that names
 * this one has it from here.
 *
 * @returns the id that the Version has to name
 */
export async function notePublication(
  notes: Notes,
  version: Omit<PublicationNote, 'published'>,
  publisher: PublishedBy,
  clock: Clock,
): Promise<string> {
  const id = randomUUID()
  const published: Published = { ...publisher, at: timeOf(clock()) }
  const note: PublicationNote = { ...version, published }
  await notes.put(id, JSON.stringify(note))
  return id
}

/** The publisher of a Version whose status does not say it yet. @throws ApiError */
export async function publishedOf(
  { objects }: Pick<Context, 'objects'>,
  { metadata, spec, status }: Version,
  sha256: string,
): Promise<Published | undefined> {
  const id = spec.upload?.publication
  if (id === undefined || status?.published !== undefined) return undefined
  const { published, ...noted } = noteIn((await objects.publications?.get(id)) ?? '') ?? {}
  const { namespace, name } = metadata
  const version = normalizeVersion(spec.version)
  const config = spec[configRefOf[spec.type]]?.name
  return isDeepStrictEqual(noted, { namespace, name, version, config, sha256 })
    ? published
    : undefined
}

/** Removes the note of a Version whose status says who published it. @throws ApiError */
export async function forgetPublication(
  { objects }: Pick<Context, 'objects'>,
  { spec: { upload } }: Version,
): Promise<void> {
  if (upload?.publication !== undefined) await objects.publications?.drop(upload.publication)
}

/** Removes notes that a kill left without a Version, or behind one that has its status. Never rejects. */
export async function sweepPublications({ objects, clock, log }: Context): Promise<void> {
  const { publications } = objects
  if (publications === undefined) return
  try {
    for (const [id, text] of await publications.all()) {
      const note = noteIn(text)
      const isOld = clock() - (msOf(note?.published.at) ?? 0) > orphanedMs
      if (isOld && !isAwaited(objects, id, note)) await publications.drop(id)
    }
  } catch (error) {
    log.warn({ problem: messageOf(error) }, 'notes of publications cannot be cleaned up')
  }
}

function isAwaited(objects: Objects, id: string, note: PublicationNote | undefined): boolean {
  if (note === undefined) return false
  const found: StoredObject | undefined = objects.get('Version', note.namespace, note.name)
  const { spec, status } = (found ?? {}) as Partial<Version>
  return spec?.upload?.publication === id && status?.published === undefined
}

const noteIn = (text: string): PublicationNote | undefined =>
  jsonOf(text) as PublicationNote | undefined
