import {
  type Backend,
  backendOf,
  type Condition,
  conditionOf,
  type Depot,
  type ParentKind,
} from '../../api/v1alpha1/v1alpha1.ts'
import { compareText, NamedRows } from './collections.ts'
import { compareAddress } from './orders.ts'
import type { Listed, View } from './summary.ts'

/** A Depot, reduced to what one view shows. */
export interface ShownDepot {
  readonly namespace: string
  readonly name: string
  /** Whether there is a `spec.policy`, and whether it has exceptions. */
  readonly policy: 'None' | 'WithoutExceptions' | 'WithExceptions'
  /** Undefined if the Depot names no storage. */
  readonly storageBackend: Backend | undefined
  /** 0 if it was never polled. */
  readonly pollingIntervalMinutes: number
  /** Undefined before the first report. */
  readonly ready: Condition | undefined
  /** Sorted by namespace, kind and name. */
  readonly managed: readonly Listed[]
}

export interface DepotQuery {
  readonly view: View
  /** Changes with each added or removed resource, because a Depot may already name it. */
  readonly revision: number
  readonly isPublic: (depot: Depot) => boolean
  /** Namespace of the Depot, which may manage resources in others. */
  readonly namespace?: string | undefined
}

type FindEntry = (kind: ParentKind, namespace: string, name: string) => Listed | undefined

/** The Depots, and the resources that each of them manages. */
export class Depots {
  readonly #depots = new NamedRows<Depot>()
  /** The resources that each Depot manages, as of a revision. */
  readonly #managed = new Map<Depot, readonly Listed[]>()
  #revision = 0
  readonly #find: FindEntry

  constructor(find: FindEntry) {
    this.#find = find
  }

  put(depot: Depot | undefined, namespace: string, name: string): void {
    if (depot === undefined) this.#depots.delete(namespace, name)
    else this.#depots.set(namespace, name, depot)
  }

  /** The Depots that a view shows, by namespace and name. */
  shown({ view, revision, isPublic, namespace }: DepotQuery): ShownDepot[] {
    if (revision !== this.#revision) this.#managed.clear()
    this.#revision = revision
    return Array.from(this.#depots.entries(), ([, , depot]) => depot)
      .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
      .filter((depot) => view.showsEveryDepot || isPublic(depot))
      .toSorted(
        ({ metadata: a }, { metadata: b }) =>
          compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
      )
      .map((depot) => ({
        namespace: depot.metadata.namespace,
        name: depot.metadata.name,
        policy: policyOf(depot),
        storageBackend: storageBackendOf(depot),
        pollingIntervalMinutes: depot.spec.pollingIntervalMinutes ?? 0,
        ready: conditionOf(depot.status, 'Ready'),
        managed: this.#managedBy(depot).filter((entry) => view.seen.has(entry.number)),
      }))
  }

  #managedBy(depot: Depot): readonly Listed[] {
    const known = this.#managed.get(depot) ?? managedBy(depot, this.#find)
    this.#managed.set(depot, known)
    return known
  }
}

/** The existing resources that a Depot says it manages. */
function managedBy({ metadata, status }: Depot, find: FindEntry): Listed[] {
  const found = new Set<Listed>()
  const add = (kind: ParentKind, names: readonly string[] = []): void => {
    for (const full of names) {
      const slash = full.indexOf('/')
      const namespace = slash === -1 ? metadata.namespace : full.slice(0, slash)
      const entry = find(kind, namespace, full.slice(slash + 1))
      if (entry !== undefined) found.add(entry)
    }
  }
  add('Module', status?.modules)
  add('Provider', status?.providers)
  return [...found].toSorted((a, b) => compareAddress(a.summary, b.summary))
}

function policyOf({ spec: { policy } }: Depot): ShownDepot['policy'] {
  if (policy === undefined) return 'None'
  return policy.exceptions === undefined ? 'WithoutExceptions' : 'WithExceptions'
}

/** The global value; otherwise the first value of a config. */
function storageBackendOf({ spec }: Depot): Backend | undefined {
  const own = [spec.global, spec.global?.moduleConfig]
  const configs = [...own, ...(spec.moduleConfigs ?? []), ...(spec.providerConfigs ?? [])]
  const storage = configs.find((config) => config?.storageConfig)?.storageConfig
  return storage && backendOf(storage)
}
