import type {
  Cluster,
  KindComparison,
  KindReplacement,
  ObservedObject,
  Store,
} from '../kube/kube.ts'
import { record } from './whole-object.ts'

/** Storage locations in the annotations of Namespaces. */
export interface StorageAnnotations {
  /** Value of the annotation `{api_group}/storage` of a namespace, as it is now. */
  of(namespace: string): string | undefined
  /**
   * Calls back with each namespace whose annotation changed.
   *
   * @returns a function that removes the listener
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
  const annotation = `${apiGroup}/storage`
  const values = new Map<string, string>()
  const listeners = new Set<(namespace: string) => void>()

  const set = (namespace: string, value: string | undefined): void => {
    if (values.get(namespace) === value) return
    if (value === undefined) values.delete(namespace)
    else values.set(namespace, value)
    for (const listener of listeners) listener(namespace)
  }
  const valueOf = ({ metadata }: ObservedObject): string | undefined => {
    const value = record(record(metadata)['annotations'])[annotation]
    return typeof value === 'string' ? value : undefined
  }
  const replace = (only: string | undefined): KindReplacement => {
    const found = new Map<string, string | undefined>()
    return {
      add: (object) => found.set(object.metadata.name, valueOf(object)),
      delete: ({ metadata }) => found.delete(metadata.name),
      commit: async () => {
        const held = only === undefined ? [...values.keys()] : [only]
        for (const name of new Set([...held, ...found.keys()])) set(name, found.get(name))
      },
    }
  }
  const compare = (): KindComparison => {
    let found = 0
    return {
      add: (listed) => {
        const value = valueOf(listed)
        if (values.has(listed.metadata.name)) found += 1
        return value === values.get(listed.metadata.name)
      },
      unlisted: () => values.size - found,
    }
  }
  const watches = (namespaces ?? [undefined]).map((namespace) =>
    cluster.observe({
      kinds: ['Namespace'],
      scope: { watchNamespace: namespace, bindingsNamespace: namespace ?? 'default' },
      storeOf: (): Store => ({
        replace: () => replace(namespace),
        compare,
        upsert: (object) => set(object.metadata.name, valueOf(object)),
        delete: ({ metadata }) => set(metadata.name, undefined),
      }),
    }),
  )
  return {
    of: (namespace) => values.get(namespace),
    onChange: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ready: Promise.all(watches.map(({ ready }) => ready)).then(() => undefined),
  }
}
