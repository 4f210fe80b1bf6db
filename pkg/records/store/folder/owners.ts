import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock } from '../../../base/pacing/pacing.ts'
import type { Logger } from '../../../base/telemetry/telemetry.ts'
import type { Scanner } from '../../folder/folder.ts'
import { objectKinds, record, refOf } from '../memory.ts'
import type { StoredObject, StoredRef } from '../types.ts'
import type { Files } from './files.ts'
import { type Fields, type FiledSecret, uidOf } from './object-rules.ts'
import type { ShownObjects, Writes } from './writes.ts'

interface OwnersOptions {
  readonly shown: ShownObjects
  readonly scanner: Scanner<Fields, FiledSecret>
  readonly files: Files
  readonly writes: Writes
  /** Time without changes in the folder after which absent objects are removed, in milliseconds. */
  readonly restMs: number
  readonly log: Logger
  readonly clock: Clock
}

/**
 * Decides which objects of a folder belong to which, and deletes those that sync created for an absent owner once the folder
 * has had no changes for a while. An unreadable file may contain the owner, so nothing is deleted while there is one.
 */
export class Owners {
  readonly #options: OwnersOptions
  /** The revision for which absent owners were last processed without a failure. */
  #collected = -1
  #isFailing = false

  constructor(options: OwnersOptions) {
    this.#options = options
  }

  /** Objects that sync created for an owner. */
  ownedBy(uid: string): StoredObject[] {
    const { shown, files } = this.#options
    return objectKinds
      .flatMap((kind) => shown.memory.list(kind, { ownerUid: uid }))
      .filter((object) => controllerOf(object)?.uid === uid && files.isOwn(refOf(object)))
  }

  /** Objects that sync created for an absent owner, unless their deletion has begun. */
  orphans(): StoredObject[] {
    const { shown, files } = this.#options
    return objectKinds
      .flatMap((kind) => shown.memory.list(kind))
      .filter(
        (object) =>
          object.metadata.deletionTimestamp === undefined &&
          !this.#isOwnerPresent(object) &&
          files.isOwn(refOf(object)),
      )
  }

  /** Called at the end of each scan. */
  async collect(): Promise<void> {
    const { scanner, shown, files, log } = this.#options
    if (scanner.restsInMs > 0 || this.#collected === shown.revision) return
    if (scanner.definitions.hasAbsent || scanner.rejections.unreadable() !== undefined) return
    const removals = [
      ...this.orphans().map((object) => () => this.#markOrRemove(object)),
      ...this.#strayStatuses().map((ref) => () => files.removeStatus(ref)),
    ]
    this.#isFailing = false
    for (const remove of removals) {
      try {
        await remove()
      } catch (err) {
        this.#isFailing = true
        log.warn({ err }, 'a file of an absent object could not be removed')
      }
    }
    if (!this.#isFailing) this.#collected = shown.revision
  }

  /** Objects whose owner has returned are not deleted. */
  takeBack(): void {
    const { shown, log } = this.#options
    for (const ref of shown.ownerless()) {
      const object = shown.get(ref)
      if (object === undefined || !this.#isOwnerPresent(object)) continue
      shown.markOwnerless(ref, undefined)
      log.info({ ...ref }, 'kept, because its owner has returned')
    }
  }

  /**
   * Resolves once every absent object is removed or has returned. Also resolves if a file cannot be read or removed, and if
   * the folder keeps changing for six times `restMs`. Then the rest stays.
   */
  async settled(): Promise<void> {
    const { scanner, restMs, log } = this.#options
    const patience = AbortSignal.timeout(6 * restMs)
    for (;;) {
      await scanner.exclusively(() => scanner.settle())
      const { definitions, rejections, restsInMs } = scanner
      const isLeft = this.orphans().length > 0 || this.#strayStatuses().length > 0
      if (!definitions.hasAbsent && !isLeft) return
      if (this.#isFailing || rejections.unreadable() !== undefined) return
      if (patience.aborted) {
        log.warn('the folder keeps changing, so nothing is removed for absent objects')
        return
      }
      await sleep(Math.max(50, Math.min(restsInMs, 1_000)))
    }
  }

  #isOwnerPresent(object: StoredObject): boolean {
    const owner = controllerOf(object)
    const kind = objectKinds.find((one) => one === owner?.kind)
    if (owner === undefined || kind === undefined) return true
    const { namespace } = object.metadata
    return (
      this.#options.shown.get({ kind, namespace, name: owner.name })?.metadata.uid === owner.uid
    )
  }

  /**
   * Statuses of removed objects, with all objects that were created for them. That of a Version stays while it names an
   * archive: it is the only record of an object in storage, and the Version that a person wrote may return.
   */
  #strayStatuses(): StoredRef[] {
    return [...this.#options.scanner.definitions.strayStatuses()].flatMap(({ key, status }) => {
      const kind = objectKinds.find((one) => one === key.kind)
      const ref = kind && { ...key, kind }
      const hasArchive = kind === 'Version' && record(status?.raw)['artifact'] !== undefined
      if (ref === undefined || hasArchive) return []
      return this.ownedBy(uidOf(ref)).length > 0 ? [] : [ref]
    })
  }

  async #markOrRemove(object: StoredObject): Promise<void> {
    const { shown, writes, log, clock } = this.#options
    const ref = refOf(object)
    const owner = controllerOf(object)?.name
    log.info({ ...ref, owner }, 'to be deleted, because its owner is absent')
    if (object.metadata.finalizers.length === 0) return writes.remove(ref)
    shown.markOwnerless(ref, new Date(clock()).toISOString())
  }
}

function controllerOf({ metadata }: StoredObject) {
  return metadata.ownerReferences.find(({ controller }) => controller === true)
}
