import { kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { gauge, type Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'

/** Counts the objects of the catalog at each scrape, which is cheaper than counting each change. */
export function observeCatalog(catalog: Catalog, metrics: Metrics): void {
  gauge(metrics, {
    name: 'catalog_objects',
    help: 'Objects in the catalog.',
    labels: ['kind'],
    collect: (objects) => {
      for (const kind of kindNames) objects.set({ kind }, catalog.count(kind))
    },
  })
  gauge(metrics, {
    name: 'catalog_conflicts',
    help: 'Objects that are not served because of another one: parents whose address is taken, duplicate Versions, Versions without a parent.',
    labels: ['reason'],
    collect: (conflicts) => {
      for (const [reason, count] of Object.entries(catalog.conflicts)) {
        conflicts.set({ reason }, count)
      }
    },
  })
  gauge(metrics, {
    name: 'catalog_versions',
    help: 'Versions by the kind of their parent and whether they can be downloaded.',
    labels: ['kind', 'state'],
    collect: (versions) => {
      versions.reset()
      for (const [kind, states] of Object.entries(catalog.versionStates())) {
        for (const [state, count] of Object.entries(states)) versions.set({ kind, state }, count)
      }
    },
  })
  gauge(metrics, {
    name: 'catalog_held_back_requests',
    help: 'Requests since the start that were refused because a policy holds the version back now.',
    collect: (requests) => requests.set(catalog.heldBackRequests()),
  })
  gauge(metrics, {
    name: 'catalog_lifecycle_versions',
    help: 'Versions that are deprecated, yanked or quarantined, by the kind of their parent.',
    labels: ['kind', 'state'],
    collect: (versions) => {
      for (const [kind, states] of Object.entries(catalog.lifecycles())) {
        for (const [state, count] of Object.entries(states)) versions.set({ kind, state }, count)
      }
    },
  })
}
