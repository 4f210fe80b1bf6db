import { hash } from 'node:crypto'
import { isRecord } from '../../../api/v1alpha1/v1alpha1.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import type { Notes, StoredObject } from '../../../records/store/store.ts'
import { identityOfStored } from '../parent/desired.ts'
import { namesOf } from './references.ts'
import { type VersionStatus, versionStatus } from './work.ts'

/** A Version that is gone, and whose archive is still in storage. */
export interface LeftVersion {
  /** Names it, and what it left. */
  readonly id: string
  /** RFC 3339. */
  readonly removeAfter: string
  /** With the fields that the removal and the return of the archive need. */
  readonly object: StoredObject<unknown, VersionStatus>
}

/** Archives in storage that Versions left when they went. They are written down, so that a restart forgets none. */
export class Removals {
  /** Called with every new one. */
  onAdd: (id: string) => void = () => undefined
  readonly #notes: Notes
  readonly #left = new Map<string, LeftVersion>()
  /** Namespace, version and platform of each. */
  readonly #identities = new Map<string, string>()

  private constructor(notes: Notes) {
    this.#notes = notes
  }

  /** @throws ApiError */
  static async open(notes: Notes, log: Logger): Promise<Removals> {
    const removals = new Removals(notes)
    for (const [id, text] of await notes.all()) {
      const left = readNote(id, text)
      if (left === undefined)
        log.warn({ note: id }, 'a note of an archive to be removed is unreadable')
      else removals.#remember(left)
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
  async add(object: StoredObject, removeAfter: string): Promise<void> {
    const { artifact, release, replaced, checksum, archiveSizeBytes, previousDigests } =
      versionStatus(object)
    const status = { artifact, release, replaced, checksum, archiveSizeBytes, previousDigests }
    const { name, namespace, uid } = object.metadata
    const id = hash('sha256', JSON.stringify([namespace, name, uid, namesOf(object)])).slice(0, 24)
    const metadata = { ...object.metadata, finalizers: [], labels: {}, annotations: {} }
    const left = { id, removeAfter, object: { ...object, metadata, status } }
    await this.#notes.put(id, JSON.stringify(left))
    this.#remember(left)
    this.onAdd(id)
  }

  /** @throws ApiError */
  async drop(id: string): Promise<void> {
    await this.#notes.drop(id)
    this.#left.delete(id)
    this.#identities.delete(id)
  }

  #remember(left: LeftVersion): void {
    this.#left.set(left.id, left)
    this.#identities.set(left.id, identityIn(left.object))
  }
}

function identityIn(object: StoredObject): string {
  const { type } = object.spec as { readonly type?: string }
  return `${object.metadata.namespace} ${type} ${identityOfStored(object)}`
}

function readNote(id: string, text: string): LeftVersion | undefined {
  try {
    const left: unknown = JSON.parse(text)
    if (!isRecord(left) || !isRecord(left['object'])) return undefined
    const { metadata, spec, status } = left['object']
    const isWhole = isRecord(metadata) && isRecord(spec) && isRecord(status)
    return isWhole && typeof left['removeAfter'] === 'string'
      ? ({ ...left, id } as unknown as LeftVersion)
      : undefined
  } catch {
    return undefined
  }
}
