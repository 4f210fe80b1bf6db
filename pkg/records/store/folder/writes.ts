import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { idOf, type Resolution, type Scanner } from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'
import type { ReadmeObject } from '../../readme/readme.ts'
import { ObjectMemory, objectKinds, record } from '../memory.ts'
import type { StoredObject, StoredRef } from '../types.ts'
import type { Files } from './files.ts'
import { type Fields, type FiledSecret, identified } from './object-rules.ts'

/**
 * The objects of a folder as reconcilers see them: with the fields that an API server would set, and a mark while the owner is
 * absent. Each change has a revision.
 */
export class ShownObjects {
  readonly memory: ObjectMemory
  readonly #values = new Map<string, Fields>()
  /** Objects whose owner is absent, and since when. */
  readonly #ownerless = new Map<string, { readonly ref: StoredRef; readonly since: string }>()
  readonly #onSet: () => void
  #revision = 0

  /** @param onSet called after an object was added or changed */
  constructor(log: Logger, onSet: () => void) {
    this.memory = new ObjectMemory(log)
    this.#onSet = onSet
  }

  /** Counts the changes. */
  get revision(): number {
    return this.#revision
  }

  get({ kind, namespace, name }: StoredRef): StoredObject | undefined {
    return this.memory.get(kind, namespace, name)
  }

  /** The fields of an object without those of an API server. */
  valueOf(ref: StoredRef): Fields | undefined {
    return this.#values.get(idOf(ref))
  }

  /** @param value undefined if the object was removed */
  set(ref: StoredRef, value: Fields | undefined): void {
    const id = idOf(ref)
    if (value === undefined) {
      this.#values.delete(id)
      this.#ownerless.delete(id)
      this.#revision += 1
      this.memory.delete(ref)
    } else if (!isDeepStrictEqual(this.#values.get(id), value)) {
      this.#values.set(id, value)
      // Its deletion has begun.
      if (record(value['metadata'])['deletionTimestamp'] !== undefined) this.#ownerless.delete(id)
      this.#remember(ref, value)
      this.#onSet()
    }
  }

  /** An object of this folder that is not in memory, with its next revision. */
  identified(ref: StoredRef, value: Fields): StoredObject {
    this.#revision += 1
    return identified(ref.kind, value, String(this.#revision))
  }

  ownerless(): readonly StoredRef[] {
    return Array.from(this.#ownerless.values(), ({ ref }) => ref)
  }

  isOwnerless(ref: StoredRef): boolean {
    return this.#ownerless.has(idOf(ref))
  }

  /** Marks an object as about to be deleted. @param since undefined to remove the mark */
  markOwnerless(ref: StoredRef, since: string | undefined): void {
    if (since === undefined) this.#ownerless.delete(idOf(ref))
    else this.#ownerless.set(idOf(ref), { ref, since })
    this.#remember(ref, this.valueOf(ref) ?? {})
  }

  #remember(ref: StoredRef, value: Fields): void {
    const object = this.identified(ref, value)
    const since = this.#ownerless.get(idOf(ref))?.since
    const mark = since !== undefined && { deletionTimestamp: since, ownerAbsent: true as const }
    this.memory.set({ ...object, metadata: { ...object.metadata, ...mark } })
  }
}

/**
 * Writes changes into files, at once or together with the next important change, so that many steps cause one write. Until
 * then, memory is ahead of the file.
 */
export class Writes {
  readonly #shown: ShownObjects
  readonly #scanner: Scanner<Fields, FiledSecret>
  readonly #files: Files
  /** File contents of objects whose state in memory is not written yet; undefined if there is no file. */
  readonly #bases = new Map<string, Fields | undefined>()

  constructor(shown: ShownObjects, scanner: Scanner<Fields, FiledSecret>, files: Files) {
    this.#shown = shown
    this.#scanner = scanner
    this.#files = files
  }

  /** Shows the current content of files. Unwritten changes stay unless a person changes the file. */
  take(changes: readonly Resolution<Fields>[]): void {
    for (const { id, key, object } of changes) {
      const kind = objectKinds.find((one) => one === key.kind)
      if (kind === undefined) continue
      if (this.#bases.has(id) && isDeepStrictEqual(this.#bases.get(id), object)) continue
      this.#bases.delete(id)
      this.#shown.set({ ...key, kind }, object)
    }
  }

  /** The fields of an object that is in a file or about to be written into its first one. */
  valueOf(ref: StoredRef): Fields | undefined {
    return this.#isNew(ref) || this.isFiled(ref) ? this.#shown.valueOf(ref) : undefined
  }

  /** Whether an object has no file yet and will be written into one. */
  #isNew(ref: StoredRef): boolean {
    const id = idOf(ref)
    return this.#bases.has(id) && this.#bases.get(id) === undefined
  }

  isFiled(ref: StoredRef): boolean {
    return this.#scanner.definitions.fileOf(ref) !== undefined
  }

  /** Changes an object, in memory and in its file. */
  async change(
    ref: StoredRef,
    before: Fields | undefined,
    after: Fields,
    when: 'now' | 'later',
  ): Promise<StoredObject> {
    const id = idOf(ref)
    const isChanged = !isDeepStrictEqual(before, after)
    if (isChanged && when === 'later' && this.#mayWait(ref, before, after)) {
      if (!this.#bases.has(id)) this.#bases.set(id, this.#scanner.definitions.get(id))
      this.#shown.set(ref, after)
    } else if (isChanged || (when === 'now' && this.#bases.has(id))) {
      await this.#writeOwner(after)
      await this.#write(ref, after)
    }
    const object = this.#shown.get(ref)
    if (object !== undefined) return object
    throw new ApiError(
      'Unavailable',
      `${ref.kind} ${ref.name} is not in the file it was written to`,
    )
  }

  /** Changes the README of a Version, in one write with a Version that is ahead of its file. */
  async changeReadme(version: StoredRef, readme: ReadmeObject | undefined): Promise<void> {
    const id = idOf(version)
    await this.#files.writeReadme(version, readme)
    const value = this.#scanner.definitions.get(id)
    if (value !== undefined && !this.#bases.has(id)) await this.#files.write(version, value)
  }

  async remove(ref: StoredRef): Promise<void> {
    this.#bases.delete(idOf(ref))
    await this.#files.remove(ref)
    this.#shown.set(ref, this.#scanner.definitions.get(idOf(ref)))
  }

  #mayWait(ref: StoredRef, before: Fields | undefined, after: Fields): boolean {
    if (this.#files.isOwn(ref)) return true
    const { status: _, ...rest } = after
    const { status: __, ...restBefore } = before ?? {}
    return isDeepStrictEqual(rest, restBefore)
  }

  /**
   * Writes the owner of an object first if it has no file yet. Otherwise, a process that starts after a kill finds an object whose
   * owner is absent.
   */
  async #writeOwner(value: Fields): Promise<void> {
    const [owner] = identified('Version', value, '').metadata.ownerReferences
    const kind = objectKinds.find((one) => one === owner?.kind)
    if (owner === undefined || kind === undefined) return
    const { namespace = 'default' } = record(value['metadata'])
    const ref = { kind, namespace: String(namespace), name: owner.name }
    if (this.#isNew(ref)) await this.#write(ref, this.#shown.valueOf(ref) ?? {})
  }

  async #write(ref: StoredRef, after: Fields): Promise<void> {
    const id = idOf(ref)
    const base = this.#bases.get(id)
    const isAhead = this.#bases.delete(id)
    try {
      await this.#files.write(ref, after)
      // Memory has the same object as the file.
      this.#shown.set(ref, this.#scanner.definitions.get(id))
    } catch (error) {
      if (isAhead) this.#bases.set(id, base)
      throw error
    }
  }
}
