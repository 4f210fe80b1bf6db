import { isDeepStrictEqual } from 'node:util'
import { idOf, type Resolution, type Scanner } from '../../folder/folder.ts'
import { ApiError } from '../../kube/kube.ts'
import type { ReadmeObject } from '../../readme/readme.ts'
import { objectKinds } from '../memory.ts'
import type { StoredObject, StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import type { Files } from './files.ts'
import { identified } from './identity.ts'
import type { Fields, FiledSecret } from './keeper.ts'
import type { ShownObjects } from './shown.ts'

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
