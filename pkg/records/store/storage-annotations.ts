import type { Cluster, KindReplacement, ObservedObject, Store } from '../kube/kube.ts'
import { record } from './whole-object.ts'

/** Storage locations in the annotations of Namespaces. */
export interface StorageAnnotations {
  /** Value of the annotation `{api_group}/storage` of a namespace, as it is now. */
  of(namespace: string): string | undefined
  /**
   * Calls back with each namespace whose annotation changed.
   *
   * @returns what takes it back
   */
  onChange(listener: (namespace: string) => void): () => void
  /** Resolves once every Namespace was read; never, while that is forbidden. */
  readonly ready: Promise<void>
}

/** @param namespaces which are read; default: all */
export function watchStorageAnnotations({
  cluster,
  apiGroup,
  namespaces,
}: {
  readonly cluster: Pick<Cluster, 'observe'>
  readonly apiGroup: string
  readonly namespaces?: readonly string[] | undefined
}): StorageAnnotations {
  const known = new AnnotationStore(`${apiGroup}/storage`)
  const watches = (namespaces ?? [undefined]).map((namespace) =>
    cluster.observe({
      kinds: ['Namespace'],
      scope: { watchNamespace: namespace, bindingsNamespace: namespace ?? 'default' },
      storeOf: () => known.storeOf(namespace),
    }),
  )
  return {
    of: (namespace) => known.values.get(namespace),
    onChange: (listener) => known.onChange(listener),
    ready: Promise.all(watches.map(({ ready }) => ready)).then(() => undefined),
  }
}

class AnnotationStore {
  readonly values = new Map<string, string>()
  readonly #annotation: string
  readonly #listeners = new Set<(namespace: string) => void>()

  constructor(annotation: string) {
    this.#annotation = annotation
  }

  onChange(listener: (namespace: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @param namespace the only one that the watch brings; undefined: it brings all */
  storeOf(namespace: string | undefined): Store {
    return {
      replace: () => this.#replace(namespace),
      upsert: (object) => this.#set(object.metadata.name, this.#valueOf(object)),
      delete: ({ metadata }) => this.#set(metadata.name, undefined),
    }
  }

  #replace(namespace: string | undefined): KindReplacement {
    const found = new Map<string, string | undefined>()
    return {
      add: (object) => found.set(object.metadata.name, this.#valueOf(object)),
      delete: ({ metadata }) => found.delete(metadata.name),
      commit: async () => {
        const held = namespace === undefined ? [...this.values.keys()] : [namespace]
        for (const name of new Set([...held, ...found.keys()])) this.#set(name, found.get(name))
      },
    }
  }

  #valueOf({ metadata }: ObservedObject): string | undefined {
    const value = record(record(metadata)['annotations'])[this.#annotation]
    return typeof value === 'string' ? value : undefined
  }

  #set(namespace: string, value: string | undefined): void {
    if (this.values.get(namespace) === value) return
    if (value === undefined) this.values.delete(namespace)
    else this.values.set(namespace, value)
    for (const listener of this.#listeners) listener(namespace)
  }
}
