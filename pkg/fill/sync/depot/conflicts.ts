import { refOf, type StoredObject, type StoredRef } from '../../../records/store/store.ts'
import type { Context } from '../context.ts'
import { keyOf } from '../objects.ts'
import { type DepotItem, type DepotStatus, itemsOf } from './configs.ts'
import { managedBy } from './made.ts'

/** The Depots that wait until a resource of another owner is theirs, or is gone. */
export class DepotsInConflict {
  readonly #context: Pick<Context, 'objects' | 'apiGroup'>
  /** Almost always empty, so that many deletions cost nothing. */
  readonly #depots = new Map<string, StoredObject>()

  constructor(context: Pick<Context, 'objects' | 'apiGroup'>) {
    this.#context = context
    for (const depot of context.objects.list('Depot')) this.follow(refOf(depot), depot)
  }

  /**
   * @param after the object after a change; undefined if it was deleted
   * @returns whether a Depot begins to wait for a resource that was deleted before its status said so
   */
  follow(ref: StoredRef, after: StoredObject | undefined): boolean {
    if (ref.kind !== 'Depot') return false
    const key = keyOf(ref)
    const wasWaiting = this.#depots.delete(key)
    if (after === undefined || !isInConflict(after)) return false
    this.#depots.set(key, after)
    const isThere = ({ kind, objectName }: DepotItem) =>
      this.#context.objects.get(kind, ref.namespace, objectName) !== undefined
    return !wasWaiting && !itemsOf(after, managedBy(this.#context, after)).every(isThere)
  }

  /** Those with a config for a resource. */
  waitingFor({ kind, namespace, name }: StoredRef): StoredRef[] {
    return [...this.#depots.values()]
      .filter(({ metadata }) => metadata.namespace === namespace)
      .filter((depot) =>
        itemsOf(depot, managedBy(this.#context, depot)).some(
          (item) => item.kind === kind && item.objectName === name,
        ),
      )
      .map(refOf)
  }
}

function isInConflict({ status }: StoredObject): boolean {
  const { conditions = [] } = (status ?? {}) as DepotStatus
  return conditions.some((one) => one.type === 'Conflict' && one.status === 'True')
}
