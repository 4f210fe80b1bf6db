import type {
  Cluster,
  KindComparison,
  KindReplacement,
  ObservedObject,
  Store,
} from '../kube/kube.ts'
import { record } from './whole-object.ts'

interface WatchOptions {
  readonly cluster: Pick<Cluster, 'observe'>
  readonly apiGroup: string
  /** Namespaces to read. Default: all. */
  readonly namespaces?: readonly string[] | undefined
}

type StorageAnnotations = Pick<WatchedAnnotations, keyof WatchedAnnotations>

export const watchStorageAnnotations = (options: WatchOptions): StorageAnnotations =>
  new WatchedAnnotations(options)

/** Storage locations in the annotations of Namespaces. */
class WatchedAnnotations {
  /** Resolves once every Namespace was read; never, while that is forbidden. */
  readonly ready: Promise<void>
  /** Name of the annotation. */
  readonly #annotation: string
  readonly #values = new Map<string, string>()
  readonly #listeners = new Set<(namespace: string) => void>()

  constructor({ cluster, apiGroup, namespaces }: WatchOptions) {
    this.#annotation = `${apiGroup}/storage`
    const watches = (namespaces ?? [undefined]).map((namespace) =>
      cluster.observe({
        kinds: ['Namespace'],
        scope: { watchNamespace: namespace, bindingsNamespace: namespace ?? 'default' },
        storeOf: () => this.#storeOf(namespace),
      }),
    )
    this.ready = Promise.all(watches.map(({ ready }) => ready)).then(() => undefined)
  }

  /** Current value of the annotation `{api_group}/storage` of a namespace. */
  of(namespace: string): string | undefined {
    return this.#values.get(namespace)
  }

  /**
   * Calls back with each namespace whose annotation changed.
   *
   * @returns a function that removes the listener
   */
  onChange(listener: (namespace: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** @param only the namespace of the watch; undefined for all */
  #storeOf(only: string | undefined): Store {
    return {
      replace: () => this.#replace(only),
      compare: () => this.#compare(),
      upsert: (object) => this.#set(object.metadata.name, this.#valueOf(object)),
      delete: ({ metadata }) => this.#set(metadata.name, undefined),
    }
  }

  #replace(only: string | undefined): KindReplacement {
    const found = new Map<string, string | undefined>()
    return {
      add: (object) => found.set(object.metadata.name, this.#valueOf(object)),
      delete: ({ metadata }) => found.delete(metadata.name),
      commit: async () => {
        const held = only === undefined ? [...this.#values.keys()] : [only]
        for (const name of new Set([...held, ...found.keys()])) this.#set(name, found.get(name))
      },
    }
  }

  #compare(): KindComparison {
    let found = 0
    return {
      add: (listed) => {
        const value = this.#valueOf(listed)
        if (this.#values.has(listed.metadata.name)) found += 1
        return value === this.#values.get(listed.metadata.name)
      },
      unlisted: () => this.#values.size - found,
    }
  }

  #set(namespace: string, value: string | undefined): void {
    if (this.#values.get(namespace) === value) return
    if (value === undefined) this.#values.delete(namespace)
    else this.#values.set(namespace, value)
    for (const listener of this.#listeners) listener(namespace)
  }

  #valueOf({ metadata }: ObservedObject): string | undefined {
    const value = record(record(metadata)['annotations'])[this.#annotation]
    return typeof value === 'string' ? value : undefined
  }
}
