import { hash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import { jsonOf } from '../../../base/errors/errors.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import type { Notes, StoredObject } from '../../../records/store/store.ts'
import { keyOf } from '../objects.ts'
import { identityOfStored } from '../parent/versions.ts'
import { isRefusing, namesOf, type VersionStatus, versionStatus } from './work.ts'

/** A Version that is gone or lost its status, and whose archive is still in storage. */
export interface LeftVersion {
  /** Names it, and what it left. */
  readonly id: string
  /** RFC 3339. Undefined: nobody ordered its removal, so the archive stays. */
  readonly removeAfter: string | undefined
  /** A person deleted the Version to get the content that it refused. */
  readonly acceptsUpstream?: boolean | undefined
  /** With the fields that the removal and the return of the archive need. */
  readonly object: StoredObject<unknown, VersionStatus>
}

/** The note of what a folder has stored. Other notes have ids as their keys. */
const storedKey = 'stored'
/** The note of the events that were delivered. */
export const eventNote = 'events'

/** Archives in storage whose Versions were deleted. They are recorded, so that a restart forgets none. */
export class Removals {
  /** Called with every new one. */
  onAdd: (id: string) => void = () => undefined
  /** Uids of Versions that their parent deleted, because it no longer wants them. */
  readonly unwanted = new Set<string>()
  readonly #notes: Notes
  readonly #left = new Map<string, LeftVersion>()
  /** Namespace, version and platform of each. */
  readonly #identities = new Map<string, string>()
  /** With the Modules and Providers that sync made. */
  #stored: readonly StoredObject[] = []

  private constructor(notes: Notes) {
    this.#notes = notes
  }

  /** @throws ApiError */
  static async open(notes: Notes, log: Logger): Promise<Removals> {
    const removals = new Removals(notes)
    for (const [id, text] of await notes.all()) {
      const left = readNote(id, text)
      if (id === eventNote) continue
      if (id === storedKey) removals.#stored = readStored(text)
      else if (left !== undefined) removals.#remember(left)
      else log.warn({ note: id }, 'a note of an archive to be removed is unreadable')
    }
    return removals
  }

  get all(): readonly LeftVersion[] {
    return [...this.#left.values()]
  }

  get(id: string): LeftVersion | undefined {
    return this.#left.get(id)
  }

  /** Finds Versions that are gone and had the namespace, version and platform of this one. */
  of(object: StoredObject): LeftVersion[] {
    const wanted = identityIn(object)
    return this.all.filter(({ id }) => this.#identities.get(id) === wanted)
  }

  /** @param object with the place of its archive in its status. @throws ApiError */
  async add(
    object: StoredObject,
    rest: Pick<LeftVersion, 'removeAfter' | 'acceptsUpstream'>,
  ): Promise<void> {
    const left = { id: idOf(object), ...rest, object: neededOf(object) }
    await this.#notes.put(left.id, JSON.stringify(left))
    this.#remember(left)
    this.onAdd(left.id)
  }

  /** Whether the parent of a Version deleted it, because it no longer wants it. */
  isUnwanted(object: StoredObject): boolean {
    return (
      this.unwanted.has(object.metadata.uid) ||
      this.#left.get(idOf(object))?.acceptsUpstream === false
    )
  }

  /** Keeps the archive of a Version that is unknown by accident, such as by a file that was emptied. */
  hold(object: StoredObject): void {
    const left = { id: idOf(object), removeAfter: undefined, object: neededOf(object) }
    if (!this.#left.has(left.id)) this.#remember(left)
  }

  /** Versions whose archives are held. */
  get held(): readonly StoredObject[] {
    return this.all
      .filter(({ removeAfter }) => removeAfter === undefined)
      .map(({ object }) => object)
  }

  /** Holds nothing for a Version any more, because it has an archive. */
  release(object: StoredObject): void {
    for (const { id, removeAfter } of this.of(object)) {
      if (removeAfter === undefined) this.#forget(id)
    }
  }

  /** @throws ApiError */
  async drop(id: string): Promise<void> {
    await this.#notes.drop(id)
    this.#forget(id)
  }

  /** The Versions with an archive that existed when they were last recorded. */
  get stored(): readonly StoredObject[] {
    return this.#stored.filter(({ kind }) => kind === 'Version')
  }

  /** The Modules and Providers that sync had made then. */
  get parents(): readonly StoredObject[] {
    return this.#stored.filter(({ kind }) => kind !== 'Version')
  }

  /** Writes the Versions with an archive, and what sync made for them, down for the next process. @throws ApiError */
  async keepStored(objects: readonly StoredObject[]): Promise<void> {
    if (objects.length === 0) {
      this.#stored = []
      return this.#notes.drop(storedKey)
    }
    const orderOf = ({ kind, metadata }: StoredObject) => `${kind} ${keyOf(metadata)}`
    const byName = (a: StoredObject, b: StoredObject) => (orderOf(a) < orderOf(b) ? -1 : 1)
    const text = JSON.stringify(objects.toSorted(byName).map(unrevised))
    const stored = JSON.parse(text) as StoredObject[]
    if (isDeepStrictEqual(stored, this.#stored)) return
    await this.#notes.put(storedKey, text)
    this.#stored = stored
  }

  #forget(id: string): void {
    this.#left.delete(id)
    this.#identities.delete(id)
  }

  #remember(left: LeftVersion): void {
    this.#left.set(left.id, left)
    this.#identities.set(left.id, identityIn(left.object))
  }
}

function idOf(object: StoredObject): string {
  const { name, namespace, uid } = object.metadata
  return hash('sha256', JSON.stringify([namespace, name, uid, namesOf(object)])).slice(0, 24)
}

/** The fields that the removal and the return of an archive need. */
function neededOf(object: StoredObject): StoredObject<unknown, VersionStatus> {
  const { artifact, release, replaced, checksum, archiveSizeBytes, previousDigests, drift } =
    versionStatus(object)
  const served = { artifact, release, replaced, checksum, archiveSizeBytes, previousDigests }
  const status = isRefusing(object) ? { ...served, drift } : served
  const metadata = { ...object.metadata, finalizers: [], labels: {}, annotations: {} }
  return { ...object, metadata, status }
}

/** The same for an object that did not change: each process counts the revisions of a folder from the beginning. */
function unrevised(object: StoredObject): StoredObject {
  const needed = object.kind === 'Version' ? neededOf(object) : withTrust(object)
  return { ...needed, metadata: { ...needed.metadata, resourceVersion: '' } }
}

/** A Module or Provider with the key that it trusts; everything else in its status is found out again. */
function withTrust(object: StoredObject): StoredObject {
  const { signingKey } = (object.status ?? {}) as { readonly signingKey?: unknown }
  return { ...object, status: { signingKey } }
}

function identityIn(object: StoredObject): string {
  const { type } = object.spec as { readonly type?: string }
  return `${object.metadata.namespace} ${type} ${identityOfStored(object)}`
}

function readStored(text: string): readonly StoredObject[] {
  const stored = jsonOf(text)
  return Array.isArray(stored) ? stored.filter(isWhole) : []
}

function isWhole(object: unknown): object is StoredObject<unknown, VersionStatus> {
  if (!isRecord(object)) return false
  const { metadata, spec, status } = object
  return isRecord(metadata) && isRecord(spec) && isRecord(status)
}

function readNote(id: string, text: string): LeftVersion | undefined {
  const left = jsonOf(text)
  if (!isRecord(left)) return undefined
  const { object, removeAfter, acceptsUpstream: accepts } = left
  if (!isWhole(object) || typeof removeAfter !== 'string') return undefined
  const acceptsUpstream = typeof accepts === 'boolean' ? accepts : undefined
  return { id, object, removeAfter, acceptsUpstream }
}
