import { isDeepStrictEqual } from 'node:util'
import {
  compareStates,
  isOlder,
  type KindComparison,
  type KindReplacement,
  type ObservedObject,
  type Store,
} from '../kube/kube.ts'
import type { AppliedFields, FieldSet } from './applied-fields.ts'
import { idOf, type ObjectMemory } from './memory.ts'
import type { ObjectKind, StoredObject, StoredRef } from './types.ts'
import { wholeObject } from './whole-object.ts'

/**
 * Stores what a watch of one kind delivers, and what this process wrote before the watch delivers it. Of two states, the newer
 * one counts, whatever its source.
 */
export class ClusterStore implements Store {
  readonly #kind: ObjectKind
  /** The namespace of the watch; undefined: all namespaces. */
  readonly #namespace: string | undefined
  readonly #memory: ObjectMemory
  readonly #fieldManager: string
  readonly #appliedFields: AppliedFields
  readonly #applied = new Map<string, FieldSet>()
  /** The newest state of the cluster up to which the watch has reported everything. */
  #seen = ''

  constructor(options: {
    readonly kind: ObjectKind
    readonly namespace?: string | undefined
    readonly fieldManager: string
    /** May be shared with other stores. */
    readonly appliedFields: AppliedFields
    readonly memory: ObjectMemory
  }) {
    this.#kind = options.kind
    this.#namespace = options.namespace
    this.#memory = options.memory
    this.#fieldManager = options.fieldManager
    this.#appliedFields = options.appliedFields
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
    const object = wholeObject(this.#kind, answer)
    const isGone = object.metadata.deletionTimestamp && object.metadata.finalizers.length === 0
    const { resourceVersion } = object.metadata
    const watchHasIt = resourceVersion === this.#seen || isOlder(resourceVersion, this.#seen)
    if (!watchHasIt && !isGone) this.#keep(object, answer)
    return object
  }

  replace({ rewound }: { readonly rewound: boolean }): KindReplacement {
    const named = new Set<string>()
    return {
      add: (raw) => {
        const object = wholeObject(this.#kind, raw)
        named.add(idOf(object.metadata.namespace, object.metadata.name))
        this.#keep(object, raw, rewound)
      },
      delete: (raw) => this.delete(raw),
      commit: async (resourceVersion) => {
        for (const object of this.#memory.list(this.#kind, this.#filter)) {
          const { namespace, name, resourceVersion: held } = object.metadata
          // The following watch reports objects that were written after the list.
          const isLater = !rewound && isOlder(resourceVersion, held)
          if (!named.has(idOf(namespace, name)) && !isLater) this.#forget(object.metadata)
        }
        this.#seen = resourceVersion
      },
    }
  }

  compare(asOf: string): KindComparison {
    return compareStates(asOf, {
      get: (namespace, name) => this.#memory.get(this.#kind, namespace, name)?.metadata,
      all: () => this.#memory.list(this.#kind, this.#filter).map(({ metadata }) => metadata),
    })
  }

  upsert(raw: ObservedObject): void {
    this.#seen = raw.metadata.resourceVersion
    this.#keep(wholeObject(this.#kind, raw), raw)
  }

  delete(raw: ObservedObject): void {
    const { namespace = '', name, resourceVersion } = raw.metadata
    this.#seen = resourceVersion
    const held = this.#memory.get(this.#kind, namespace, name)
    // A new object already has its name.
    if (held !== undefined && isOlder(resourceVersion, held.metadata.resourceVersion)) return
    this.#forget({ namespace, name })
  }

  get #filter(): { readonly namespace?: string } {
    return this.#namespace === undefined ? {} : { namespace: this.#namespace }
  }

  #keep(object: StoredObject, raw: ObservedObject, rewound = false): void {
    const { namespace, name, resourceVersion } = object.metadata
    const held = this.#memory.get(this.#kind, namespace, name)
    if (isDeepStrictEqual(held, object)) return
    const isBehind = held !== undefined && isOlder(resourceVersion, held.metadata.resourceVersion)
    if (isBehind && !rewound) return
    const fields = this.#appliedFields.by(this.#fieldManager, raw)
    if (fields === undefined) this.#applied.delete(idOf(namespace, name))
    else this.#applied.set(idOf(namespace, name), fields)
    this.#memory.set(object)
  }

  #forget({ namespace, name }: Omit<StoredRef, 'kind'>): void {
    this.#applied.delete(idOf(namespace, name))
    this.#memory.delete({ kind: this.#kind, namespace, name })
  }
}
