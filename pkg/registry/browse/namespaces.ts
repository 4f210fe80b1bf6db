import { NamespaceList } from '../../api/browse/browse.ts'
import { endpoint } from './endpoint.ts'
import { noParameters } from './parameters.ts'

/** The rule is the same for everyone: nobody sees names of other namespaces. */
export const namespaces = endpoint({
  route: '/namespaces',
  operationId: 'listNamespaces',
  summary: 'Public namespaces',
  description: 'Namespaces that carry the public label, by name.',
  path: noParameters,
  query: noParameters,
  response: NamespaceList,
  example: { items: [{ name: 'platform', public: true }] },
  answer({ catalog: { model } }) {
    const items = model.publicNamespaces.map((name) => ({ name, public: true }))
    return { body: JSON.stringify({ items }), revision: () => model.revision }
  },
})
