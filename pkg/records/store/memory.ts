import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { messageOf } from '../../base/errors/errors.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type {
  AppliedObject,
  ChangeListener,
  ObjectFilter,
  ObjectKind,
  OwnerReference,
  StoredObject,
  StoredRef,
} from './types.ts'

/** A parsed object, with any field that a reconciler may read. */
export function wholeObject(kind: ObjectKind, raw: unknown): StoredObject {
  const { metadata, spec, status } = record(raw)
  const given = record(metadata)
  const { deletionTimestamp } = given
  return {
    kind,
    metadata: {
      name: text(given['name']),
      namespace: text(given['namespace']) || 'default',
      uid: text(given['uid']),
      resourceVersion: text(given['resourceVersion']),
      generation: typeof given['generation'] === 'number' ? given['generation'] : 0,
      creationTimestamp: text(given['creationTimestamp']),
      ...(typeof deletionTimestamp === 'string' && { deletionTimestamp }),
      labels: textsIn(given['labels']),
      annotations: textsIn(given['annotations']),
      finalizers: items(given['finalizers']).filter((it) => typeof it === 'string'),
      ownerReferences: items(given['ownerReferences']).flatMap(ownerOf),
    },
    spec: spec ?? {},
    ...(status !== undefined && status !== null && { status }),
  }
}

export function record(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

function items(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** The fields of an object that are texts. */
export function textsIn(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(record(value)).filter(
      (entry): entry is [string, string] => typeof entry[1] === 'string',
    ),
  )
}

function ownerOf(value: unknown): OwnerReference[] {
  const { apiVersion, kind, name, uid, controller, blockOwnerDeletion } = record(value)
  if (typeof apiVersion !== 'string' || typeof kind !== 'string' || typeof name !== 'string') {
    return []
  }
  const flags = {
    ...(typeof controller === 'boolean' && { controller }),
    ...(typeof blockOwnerDeletion === 'boolean' && { blockOwnerDeletion }),
  }
  return [{ apiVersion, kind, name, uid: text(uid), ...flags }]
}

export const objectKinds: readonly ObjectKind[] = ['Depot', 'Module', 'Provider', 'Version']

/** Objects by kind, namespace and name, and by owner. */
export class ObjectMemory {
  readonly #log: Logger
  readonly #kinds = new Map<ObjectKind, Map<string, StoredObject>>()
  /** Ids of the objects of a kind by the uid of their owner; an empty uid for objects without an owner. */
  readonly #owned = new Map<string, Set<string>>()
  readonly #listeners = new Set<ChangeListener>()

  constructor(log: Logger) {
    this.#log = log
  }

  get(kind: ObjectKind, namespace: string, name: string): StoredObject | undefined {
    return this.#of(kind).get(idOf(namespace, name))
  }

  list(kind: ObjectKind, filter: ObjectFilter = {}): StoredObject[] {
    const { namespace, ownerUid, label } = filter
    return [...this.#candidates(kind, ownerUid)].filter(
      ({ metadata }) =>
        (namespace === undefined || metadata.namespace === namespace) &&
        (label === undefined || hasLabel(metadata.labels, label)),
    )
  }

  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  set(object: StoredObject): void {
    const { kind, metadata } = object
    const id = idOf(metadata.namespace, metadata.name)
    const before = this.#of(kind).get(id)
    if (before !== undefined) this.#disown(before, id)
    this.#of(kind).set(id, object)
    for (const owner of ownersOf(object)) {
      const ids = this.#owned.get(owner)
      if (ids === undefined) this.#owned.set(owner, new Set([id]))
      else ids.add(id)
    }
    this.#tell(object, before, object)
  }

  delete({ kind, namespace, name }: StoredRef): void {
    const id = idOf(namespace, name)
    const before = this.#of(kind).get(id)
    if (before === undefined) return
    this.#disown(before, id)
    this.#of(kind).delete(id)
    this.#tell(before, before, undefined)
  }

  #of(kind: ObjectKind): Map<string, StoredObject> {
    const known = this.#kinds.get(kind) ?? new Map<string, StoredObject>()
    this.#kinds.set(kind, known)
    return known
  }

  *#candidates(kind: ObjectKind, ownerUid: string | undefined): Generator<StoredObject> {
    const objects = this.#of(kind)
    if (ownerUid === undefined) {
      yield* objects.values()
      return
    }
    for (const id of this.#owned.get(`${kind} ${ownerUid}`) ?? []) {
      const object = objects.get(id)
      if (object !== undefined) yield object
    }
  }

  #disown(object: StoredObject, id: string): void {
    for (const owner of ownersOf(object)) {
      const ids = this.#owned.get(owner)
      ids?.delete(id)
      if (ids?.size === 0) this.#owned.delete(owner)
    }
  }

  /** An error of one listener must neither keep the change from other listeners nor end a watch. */
  #tell(
    object: StoredObject,
    before: StoredObject | undefined,
    after: StoredObject | undefined,
  ): void {
    const ref = refOf(object)
    for (const listener of this.#listeners) {
      try {
        listener(ref, before, after)
      } catch (err) {
        this.#log.error({ ...ref, err, error: messageOf(err) }, 'a change could not be handled')
      }
    }
  }
}

function ownersOf({ kind, metadata: { ownerReferences } }: StoredObject): string[] {
  const uids = ownerReferences.length === 0 ? [''] : ownerReferences.map(({ uid }) => uid)
  return uids.map((uid) => `${kind} ${uid}`)
}

/** Formats the name of an object. */
export function refOf({
  kind,
  metadata: { namespace, name },
}: Pick<StoredObject | AppliedObject, 'kind' | 'metadata'>): StoredRef {
  return { kind, namespace, name }
}

export function idOf(namespace: string, name: string): string {
  return `${namespace}/${name}`
}

function hasLabel(
  labels: Readonly<Record<string, string>>,
  { name, value }: { readonly name: string; readonly value?: string },
): boolean {
  const found = labels[name]
  return found !== undefined && (value === undefined || found === value)
}
