import type { Scanner } from '../../folder/folder.ts'
import { type ObjectMemory, objectKinds, refOf } from '../memory.ts'
import type { StoredObject, StoredRef } from '../types.ts'
import { record } from '../whole-object.ts'
import type { Files } from './files.ts'
import { uidOf } from './identity.ts'
import type { Fields, FiledSecret } from './keeper.ts'

/** Says which objects of a folder belong to which, and what the absence of an owner leaves behind; changes nothing. */
export class Owners {
  readonly #memory: ObjectMemory
  readonly #scanner: Scanner<Fields, FiledSecret>
  readonly #files: Files

  constructor(memory: ObjectMemory, scanner: Scanner<Fields, FiledSecret>, files: Files) {
    this.#memory = memory
    this.#scanner = scanner
    this.#files = files
  }

  /** Objects that sync created for an owner. */
  ownedBy(uid: string): StoredObject[] {
    return objectKinds
      .flatMap((kind) => this.#memory.list(kind, { ownerUid: uid }))
      .filter((object) => controllerOf(object)?.uid === uid && this.#files.isOwn(refOf(object)))
  }

  isOwnerPresent(object: StoredObject): boolean {
    const owner = controllerOf(object)
    const kind = objectKinds.find((one) => one === owner?.kind)
    if (owner === undefined || kind === undefined) return true
    const found = this.#memory.get(kind, object.metadata.namespace, owner.name)
    return found?.metadata.uid === owner.uid
  }

  hasLeftovers(): boolean {
    return this.orphans().length > 0 || this.strayStatuses().length > 0
  }

  /** Objects that sync created for an owner that is absent, unless their deletion has begun. */
  orphans(): StoredObject[] {
    return objectKinds
      .flatMap((kind) => this.#memory.list(kind))
      .filter(
        (object) =>
          object.metadata.deletionTimestamp === undefined &&
          !this.isOwnerPresent(object) &&
          this.#files.isOwn(refOf(object)),
      )
  }

  /**
   * Statuses of objects that are gone, with all that was made for them. That of a Version stays while it names an archive: it is
   * the only record of what is in storage, and the Version that a person wrote may return.
   */
  strayStatuses(): StoredRef[] {
    return [...this.#scanner.definitions.strayStatuses()].flatMap(({ key, status }) => {
      const kind = objectKinds.find((one) => one === key.kind)
      const ref = kind && { ...key, kind }
      const hasArchive = kind === 'Version' && record(status?.raw)['artifact'] !== undefined
      if (ref === undefined || hasArchive) return []
      return this.ownedBy(uidOf(ref)).length > 0 ? [] : [ref]
    })
  }
}

export function controllerOf({ metadata }: StoredObject) {
  return metadata.ownerReferences.find(({ controller }) => controller === true)
}
