import { isDeepStrictEqual } from 'node:util'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import { idOf } from '../../folder/folder.ts'
import { ObjectMemory } from '../memory.ts'
import type { StoredObject, StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import { identified } from './identity.ts'
import type { Fields } from './keeper.ts'

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
