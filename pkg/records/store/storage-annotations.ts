import { type Cluster, type ObservedObject, ObservedObjects } from '../kube/kube.ts'

interface WatchOptions {
  readonly cluster: Pick<Cluster, 'observe'>
  readonly apiGroup: string
  /** Namespaces to read. Default: all. */
  readonly namespaces?: readonly string[] | undefined
}

/** Storage locations in the annotations of Namespaces. */
export class StorageAnnotations {
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
        storeOf: () => new ObservedObjects(this.#set),
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

  readonly #set = (namespace: string, object: ObservedObject | undefined): void => {
    const value = object?.metadata.annotations?.[this.#annotation]
    if (this.#values.get(namespace) === value) return
    if (value === undefined) this.#values.delete(namespace)
    else this.#values.set(namespace, value)
    for (const listener of this.#listeners) listener(namespace)
  }
}
