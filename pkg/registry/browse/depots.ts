import * as z from 'zod'
import { DepotList } from '../../api/browse/browse.ts'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import type { ShownDepot } from '../catalog/catalog.ts'
import { endpoint } from './endpoint.ts'
import { noParameters, optional, word } from './parameters.ts'

export const depotQuery = z.object({
  namespace: optional(
    word,
    'platform',
    'Only Depots of this namespace. The resources that they manage may be in others.',
  ),
})

export const depots = endpoint({
  route: '/depots',
  operationId: 'listDepots',
  summary: 'Depots',
  description: 'The Depots that the caller may see, with the names of what they manage.',
  path: noParameters,
  query: depotQuery,
  response: DepotList,
  example: {
    items: [
      {
        namespace: 'platform',
        name: 'main',
        modules: ['network', 'payments/ledger'],
        providers: ['hello'],
        pollingIntervalMinutes: 60,
        storageBackend: 's3',
      },
    ],
  },
  answer({ catalog: { model }, view, query }) {
    const items: DepotList['items'] = model.depots(view, query.namespace).map((depot) => ({
      namespace: depot.namespace,
      name: depot.name,
      modules: managedNames(depot, 'Module'),
      providers: managedNames(depot, 'Provider'),
      pollingIntervalMinutes: depot.pollingIntervalMinutes,
      storageBackend: depot.storageBackend,
    }))
    return { body: JSON.stringify({ items }), revision: () => model.graphRevision }
  },
})

/** Names of what a Depot manages. Names in other namespaces have their namespace as a prefix. */
export function managedNames(depot: ShownDepot, kind: ParentKind): string[] {
  return depot.managed
    .filter(({ summary }) => summary.kind === kind)
    .map(({ summary: { namespace, name } }) =>
      namespace === depot.namespace ? name : `${namespace}/${name}`,
    )
}
