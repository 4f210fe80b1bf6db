import type {
  Change,
  ComparableSink,
  Kind,
  ObjectKey,
  Replacement,
  Resource,
} from '../../pkg/api/v1alpha1/v1alpha1.ts'

/** Keeps objects by kind, namespace and name, and records every change after a list. */
export class RecordingSink implements ComparableSink {
  readonly changes: Change[] = []
  readonly #resources = new Map<string, Resource>()
  #replacing = 0

  apply(change: Change): void {
    this.changes.push(change)
    if (change.type === 'upsert') this.#resources.set(keyOf(change.resource), change.resource)
    else this.#resources.delete(`${change.kind}/${change.namespace}/${change.name}`)
  }

  holds(
    { kind, namespace, name }: ObjectKey,
    state: { readonly resourceVersion: string; readonly uid: string },
  ): boolean | undefined {
    const metadata = this.get(kind, namespace, name)?.metadata
    if (metadata === undefined) return undefined
    return metadata.resourceVersion === state.resourceVersion && metadata.uid === state.uid
  }

  count(kind: Kind): number {
    return [...this.resources].filter((resource) => resource.kind === kind).length
  }

  beginReplace(kind: Kind): Replacement {
    const seen = new Set<string>()
    this.#replacing += 1
    return {
      add: (resource) => {
        seen.add(keyOf(resource))
        this.#resources.set(keyOf(resource), resource)
      },
      keep: (key) => {
        seen.add(`${key.kind}/${key.namespace}/${key.name}`)
      },
      commit: () => {
        for (const [key, resource] of this.#resources) {
          if (resource.kind === kind && !seen.has(key)) this.#resources.delete(key)
        }
      },
    }
  }

  /** The number of lists that were started. */
  get replacements(): number {
    return this.#replacing
  }

  /** `namespace/name` to resourceVersion. */
  versions(kind: Kind): Record<string, string> {
    const rows = [...this.#resources.values()].filter((resource) => resource.kind === kind)
    return Object.fromEntries(
      rows
        .map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion])
        .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ) as Record<string, string>
  }

  /** All of it, in no order. */
  get resources(): Iterable<Resource> {
    return this.#resources.values()
  }

  get(kind: Kind, namespace: string, name: string): Resource | undefined {
    return this.#resources.get(`${kind}/${namespace}/${name}`)
  }
}

function keyOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`
}
