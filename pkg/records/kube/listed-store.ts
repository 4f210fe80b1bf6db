import { isDeepStrictEqual } from 'node:util'
import { isOlder, type ObservedObject } from './list-watch.ts'
import { idOf, type KindComparison, type KindReplacement, type Store } from './store.ts'

type Metadata = ObservedObject['metadata']

/** A store that lists replace and are compared with by the metadata of its objects. */
export abstract class ListedStore implements Store {
  protected abstract held(namespace: string, name: string): Metadata | undefined
  protected abstract all(): Iterable<Metadata>
  /** @param rewound whether the object counts even if it looks older than the stored one */
  protected abstract keep(object: ObservedObject, rewound: boolean): void
  protected abstract drop(metadata: Pick<Metadata, 'namespace' | 'name'>): void

  upsert(object: ObservedObject): void {
    this.keep(object, false)
  }

  delete({ metadata }: ObservedObject): void {
    this.drop(metadata)
  }

  replace({ rewound }: { readonly rewound: boolean }): KindReplacement {
    const listed = new Set<string>()
    return {
      add: (object) => {
        listed.add(idOf(object))
        this.keep(object, rewound)
      },
      delete: (object) => {
        listed.delete(idOf(object))
        this.delete(object)
      },
      commit: async (resourceVersion) => {
        for (const metadata of this.all()) {
          // The following watch reports objects that were written after the list.
          const isLater = !rewound && isOlder(resourceVersion, metadata.resourceVersion)
          if (!listed.has(idOf({ metadata })) && !isLater) this.drop(metadata)
        }
      },
    }
  }

  /** Objects that this process wrote or read after the list are right. */
  compare(asOf: string): KindComparison {
    const listed = new Set<string>()
    return {
      add: ({ metadata }) => {
        const { namespace = '', name, uid, resourceVersion } = metadata
        listed.add(idOf({ metadata }))
        const known = this.held(namespace, name)
        if (known === undefined) return false
        const isSame = known.uid === uid && known.resourceVersion === resourceVersion
        return isSame || isOlder(asOf, known.resourceVersion)
      },
      unlisted: () =>
        [...this.all()].filter(
          (metadata) => !listed.has(idOf({ metadata })) && !isOlder(asOf, metadata.resourceVersion),
        ).length,
    }
  }
}

/** The objects of a watch in memory. */
export class ObservedObjects<O extends ObservedObject> extends ListedStore {
  readonly #objects = new Map<string, O>()
  readonly #onChange: (name: string, object: O | undefined) => void

  /** @param onChange called with each object that is new, changed or deleted */
  constructor(onChange: (name: string, object: O | undefined) => void) {
    super()
    this.#onChange = onChange
  }

  protected held(namespace: string, name: string): Metadata | undefined {
    return this.#objects.get(idOf({ metadata: { namespace, name } }))?.metadata
  }

  protected *all(): Generator<Metadata> {
    for (const { metadata } of this.#objects.values()) yield metadata
  }

  protected keep(object: ObservedObject): void {
    const id = idOf(object)
    if (isDeepStrictEqual(this.#objects.get(id), object)) return
    this.#objects.set(id, object as O)
    this.#onChange(object.metadata.name, object as O)
  }

  protected drop(metadata: Pick<Metadata, 'namespace' | 'name'>): void {
    if (this.#objects.delete(idOf({ metadata }))) this.#onChange(metadata.name, undefined)
  }
}
