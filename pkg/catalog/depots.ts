import type { Depot } from '../apis/v1alpha1/v1alpha1.ts'
import type { Entry } from './entry.ts'
import { compareAddress } from './orders.ts'
import { compareText } from './semver-order.ts'
import { type Backend, backendOf } from './totals.ts'
import type { View } from './views.ts'

/** A Depot with what of it one view shows. */
export interface ShownDepot {
  readonly namespace: string
  readonly name: string
  /** Undefined where the Depot names no storage. */
  readonly storageBackend: Backend | undefined
  /** 0: never. */
  readonly pollingIntervalMinutes: number
  /** Sorted by namespace, kind and name. */
  readonly managed: readonly Entry[]
}

export type FindEntry = (
  kind: 'Module' | 'Provider',
  namespace: string,
  name: string,
) => Entry | undefined

export interface DepotQuery {
  readonly view: View
  readonly isPublic: (depot: Depot) => boolean
  readonly find: FindEntry
  /** Of the Depot; what it manages may be elsewhere. */
  readonly namespace?: string | undefined
}

/** The Depots that a view shows, by namespace and name. */
export function shownDepots(depots: Iterable<Depot>, query: DepotQuery): ShownDepot[] {
  const { view, isPublic, namespace } = query
  return Array.from(depots)
    .filter(({ metadata }) => namespace === undefined || metadata.namespace === namespace)
    .filter((depot) => view.showsEveryDepot || isPublic(depot))
    .toSorted(
      ({ metadata: a }, { metadata: b }) =>
        compareText(a.namespace, b.namespace) || compareText(a.name, b.name),
    )
    .map((depot) => ({
      namespace: depot.metadata.namespace,
      name: depot.metadata.name,
      storageBackend: storageBackendOf(depot),
      pollingIntervalMinutes: depot.spec.pollingIntervalMinutes ?? 0,
      managed: managedBy(depot, query),
    }))
}

/** What a Depot says it manages, if it exists and the view shows it. */
function managedBy({ metadata, status }: Depot, { view, find }: DepotQuery): Entry[] {
  const found = new Set<Entry>()
  const add = (kind: 'Module' | 'Provider', names: readonly string[] = []): void => {
    for (const full of names) {
      const slash = full.indexOf('/')
      const namespace = slash === -1 ? metadata.namespace : full.slice(0, slash)
      const entry = find(kind, namespace, full.slice(slash + 1))
      if (entry !== undefined && view.seen.has(entry.number)) found.add(entry)
    }
  }
  add('Module', status?.modules)
  add('Provider', status?.providers)
  return [...found].toSorted((a, b) => compareAddress(a.facts, b.facts))
}

/** What holds for everything, else what the first says that says anything. */
function storageBackendOf({ spec }: Depot): Backend | undefined {
  const own = [spec.global, spec.global?.moduleConfig]
  const configs = [...own, ...(spec.moduleConfigs ?? []), ...(spec.providerConfigs ?? [])]
  return backendOf(configs.find((config) => config?.storageConfig)?.storageConfig)
}
