import { kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { gauge, type Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'

/** Counts what is in the catalog at each scrape: that is cheaper than to keep count of every change. */
export function observeCatalog(catalog: Catalog, metrics: Metrics): void {
  gauge(
    metrics,
    { name: 'catalog_objects', help: 'Objects in the catalog.', labels: ['kind'] },
    (objects) => {
      for (const kind of kindNames) objects.set({ kind }, catalog.count(kind))
    },
  )
  gauge(
    metrics,
    {
      name: 'catalog_conflicts',
      help: 'What is not served because of something else: parents without their address, duplicates of Versions, Versions without a parent.',
      labels: ['reason'],
    },
    (conflicts) => {
      for (const [reason, count] of Object.entries(catalog.conflicts)) {
        conflicts.set({ reason }, count)
      }
    },
  )
  gauge(
    metrics,
    {
      name: 'catalog_versions',
      help: 'Versions by the kind of their parent and what can be had of them.',
      labels: ['kind', 'state'],
    },
    (versions) => {
      versions.reset()
      for (const [kind, states] of Object.entries(catalog.versionStates())) {
        for (const [state, count] of Object.entries(states)) versions.set({ kind, state }, count)
      }
    },
  )
}
