import { isDeepStrictEqual } from 'node:util'
import { isRecord } from '../../api/v1alpha1/v1alpha1.ts'
import { Bounded } from '../../base/memory/memory.ts'
import { isOlder, type KindReplacement, ListedStore, type ObservedObject } from '../kube/kube.ts'
import { idOf, type ObjectMemory, record, wholeObject } from './memory.ts'
import type { AppliedObject, ObjectKind, StoredObject, StoredRef } from './types.ts'

interface ClusterStoreOptions {
  readonly kind: ObjectKind
  /** The namespace of the watch; undefined: all namespaces. */
  readonly namespace?: string | undefined
  readonly fieldManager: string
  /** May be shared with other stores. */
  readonly appliedFields: AppliedFields
  readonly memory: ObjectMemory
}

/**
 * Stores what a watch of one kind delivers, and what this process wrote before the watch delivers it. Of two states, the newer
 * one counts, whatever its source.
 */
export class ClusterStore extends ListedStore {
  readonly #options: ClusterStoreOptions
  readonly #applied = new Map<string, FieldSet>()
  /** The newest state of the cluster up to which the watch has reported everything. */
  #seen = ''

  constructor(options: ClusterStoreOptions) {
    super()
    this.#options = options
  }

  /** The fields that this controller has applied before. */
  appliedTo({ namespace, name }: Omit<StoredRef, 'kind'>): FieldSet | undefined {
    return this.#applied.get(idOf(namespace, name))
  }

  /**
   * Stores the answer to a write or a read, unless the watch already knows better.
   *
   * @returns the object of the answer
   */
  learn(answer: ObservedObject): StoredObject {
    const object = wholeObject(this.#options.kind, answer)
    const isGone = object.metadata.deletionTimestamp && object.metadata.finalizers.length === 0
    const { resourceVersion } = object.metadata
    const watchHasIt = resourceVersion === this.#seen || isOlder(resourceVersion, this.#seen)
    if (!watchHasIt && !isGone) this.#keep(object, answer)
    return object
  }

  override replace(options: { readonly rewound: boolean }): KindReplacement {
    const replacement = super.replace(options)
    const commit = async (resourceVersion: string) => {
      await replacement.commit(resourceVersion)
      this.#seen = resourceVersion
    }
    return { ...replacement, commit }
  }

  override upsert(raw: ObservedObject): void {
    this.#seen = raw.metadata.resourceVersion
    super.upsert(raw)
  }

  override delete(raw: ObservedObject): void {
    const { namespace = '', name, resourceVersion } = raw.metadata
    this.#seen = resourceVersion
    const held = this.held(namespace, name)
    // A new object already has its name.
    if (held === undefined || !isOlder(resourceVersion, held.resourceVersion)) super.delete(raw)
  }

  protected held(namespace: string, name: string): StoredObject['metadata'] | undefined {
    return this.#options.memory.get(this.#options.kind, namespace, name)?.metadata
  }

  protected all(): StoredObject['metadata'][] {
    const filter =
      this.#options.namespace === undefined ? {} : { namespace: this.#options.namespace }
    return this.#options.memory.list(this.#options.kind, filter).map(({ metadata }) => metadata)
  }

  protected keep(raw: ObservedObject, rewound: boolean): void {
    this.#keep(wholeObject(this.#options.kind, raw), raw, rewound)
  }

  protected drop({
    namespace = '',
    name,
  }: Pick<ObservedObject['metadata'], 'namespace' | 'name'>): void {
    this.#applied.delete(idOf(namespace, name))
    this.#options.memory.delete({ kind: this.#options.kind, namespace, name })
  }

  #keep(object: StoredObject, raw: ObservedObject, rewound = false): void {
    const { namespace, name, resourceVersion } = object.metadata
    const held = this.#options.memory.get(this.#options.kind, namespace, name)
    if (isDeepStrictEqual(held, object)) return
    const isBehind = held !== undefined && isOlder(resourceVersion, held.metadata.resourceVersion)
    if (isBehind && !rewound) return
    const fields = this.#options.appliedFields.by(this.#options.fieldManager, raw)
    if (fields === undefined) this.#applied.delete(idOf(namespace, name))
    else this.#applied.set(idOf(namespace, name), fields)
    this.#options.memory.set(object)
  }
}

/** Fields in the form of `managedFields`: `{"f:spec": {"f:versions": {}}}`. */
type FieldSet = Readonly<Record<string, unknown>>

const maxKnown = 10_000

/** Reads which fields managers have applied. Many objects have equal sets, so equal sets are shared. */
export class AppliedFields {
  readonly #known = new Bounded<FieldSet>({ maxEntries: maxKnown })

  /** The fields of an object that a field manager has applied; undefined if there are none. */
  by(manager: string, raw: ObservedObject): FieldSet | undefined {
    const { managedFields } = record(record(raw)['metadata'])
    if (!Array.isArray(managedFields)) return undefined
    const entries: readonly unknown[] = managedFields
    const entry = entries
      .filter(isRecord)
      .find((it) => it['manager'] === manager && it['operation'] === 'Apply')
    if (entry === undefined) return undefined
    const { 'f:metadata': metadata, 'f:spec': spec } = record(entry['fieldsV1'])
    const { 'f:labels': labels, 'f:annotations': annotations } = record(metadata)
    const fields = {
      'f:metadata': { 'f:labels': labels, 'f:annotations': annotations },
      'f:spec': spec,
    }
    return this.#known.getOrMake(JSON.stringify(fields), () => fields)
  }
}

/**
 * Whether applying an object would change nothing: the object has every field, and this field manager has applied no field
 * that it would now remove.
 */
export function isApplied(
  wanted: AppliedObject,
  stored: StoredObject,
  applied: FieldSet | undefined,
): boolean {
  return applied !== undefined && isPartOf(wanted, stored) && hasFields(wanted, applied)
}

/** Lists are compared as a whole, as API servers do unless a definition says otherwise. */
function isPartOf(wanted: unknown, stored: unknown): boolean {
  if (wanted === undefined) return true
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(stored) &&
      wanted.length === stored.length &&
      wanted.every((item, index) => isPartOf(item, stored[index]) && isPartOf(stored[index], item))
    )
  }
  if (!isRecord(wanted)) return wanted === stored
  return isRecord(stored) && Object.keys(wanted).every((key) => isPartOf(wanted[key], stored[key]))
}

function hasFields(wanted: unknown, fields: FieldSet): boolean {
  return Object.entries(fields).every(([field, below]) => {
    if (!field.startsWith('f:') || below === undefined) return true
    const value = record(wanted)[field.slice(2)]
    return value !== undefined && hasFields(value, record(below))
  })
}
