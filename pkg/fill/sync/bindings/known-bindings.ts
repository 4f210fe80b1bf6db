import type { Condition } from '../../../api/v1alpha1/v1alpha1.ts'
import type { ObservedObject, Replacement, Store } from '../../../records/kube/kube.ts'

/** A GroupBinding as the cluster has it, with what others wrote into its status. */
export interface ObservedBinding extends ObservedObject {
  readonly metadata: ObservedObject['metadata'] & { readonly generation: number }
  readonly status?: { readonly conditions?: readonly Condition[] }
}

/** The GroupBindings of a namespace as the watch brings them. */
export class KnownBindings implements Store {
  readonly #byName = new Map<string, ObservedBinding>()
  readonly #listeners = new Set<(name: string) => void>()

  get(name: string): ObservedBinding | undefined {
    return this.#byName.get(name)
  }

  names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  /** @returns what takes the listener back */
  onChange(listener: (name: string) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  upsert(object: ObservedObject): void {
    const { name, resourceVersion } = object.metadata
    const isKnown = this.#byName.get(name)?.metadata.resourceVersion === resourceVersion
    this.#byName.set(name, object as ObservedBinding)
    if (!isKnown) for (const listener of this.#listeners) listener(name)
  }

  delete({ metadata: { name } }: ObservedObject): void {
    this.#byName.delete(name)
  }

  replace(): Replacement {
    const listed = new Set<string>()
    return {
      add: (object) => {
        listed.add(object.metadata.name)
        this.upsert(object)
      },
      delete: (object) => {
        listed.delete(object.metadata.name)
        this.delete(object)
      },
      commit: async () => {
        for (const name of this.names()) if (!listed.has(name)) this.#byName.delete(name)
      },
    }
  }
}
