import { ProviderPages, ProviderPageText } from '../../api/browse/browse.ts'
import { type ProviderPage, pageCategories } from '../../api/docs/docs.ts'
import { notFound } from '../../base/errors/errors.ts'
import { pageOfVersion, pagesOfVersion } from '../documentation/documentation.ts'
import { endpoint } from './endpoint.ts'
import { chosenVersion, docsQuery } from './module-docs.ts'
import { oneOf, resourcePath, word } from './parameters.ts'

const example = {
  category: 'resources',
  subcategory: 'Inventory',
  slug: 'host',
  title: 'cmdb_host',
  path: 'docs/resources/host.md',
} satisfies ProviderPage

export const providerPages = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/pages',
  operationId: 'listPages',
  summary: "The pages of a provider's documentation",
  description:
    'Every page that the release of a provider version has, without its text. A module has none.',
  path: resourcePath,
  query: docsQuery,
  response: ProviderPages,
  example: {
    address: 'cmdb',
    version: '0.9.1',
    pages: [{ ...example, description: 'A host in the configuration database.' }],
    leftOut: 0,
  } satisfies ProviderPages,
  waitsFor: 'storage',
  async answer(asked) {
    const { version: wanted } = asked.query
    const { parent, summary, version, state } = chosenVersion(asked, wanted, 'provider')
    const { pages, leftOut } = await pagesOfVersion(parent, version, asked.archives)
    const body: ProviderPages = {
      address: summary.address,
      version,
      pages: pages.map(({ page }) => page),
      leftOut,
    }
    return { body: JSON.stringify(body), ...state }
  },
})

const pagePath = resourcePath.extend({
  category: oneOf(pageCategories).meta({
    description: 'Part of the documentation.',
    examples: ['resources'],
  }),
  slug: word.meta({ description: 'Name of the page.', examples: ['host'] }),
})

export const providerPage = endpoint({
  route: '/resources/{namespace}/{kind}/{name}/pages/{category}/{slug}',
  operationId: 'getPage',
  summary: "A page of a provider's documentation",
  description: 'One page of the documentation of a provider version, with its text.',
  path: pagePath,
  query: docsQuery,
  response: ProviderPageText,
  example: {
    ...example,
    address: 'cmdb',
    version: '0.9.1',
    markdown: '# cmdb_host\n\nA host in the configuration database.\n',
  } satisfies ProviderPageText,
  waitsFor: 'storage',
  async answer(asked) {
    const { path, query, archives } = asked
    const { parent, summary, title, version, state } = chosenVersion(
      asked,
      query.version,
      'provider',
    )
    const page = await pageOfVersion(parent, version, path, archives)
    if (page === undefined) {
      const wanted = `${path.category}/${path.slug}`
      throw notFound(`version ${version} of ${title} has no page ${wanted}: see its list of pages`)
    }
    const body: ProviderPageText = { address: summary.address, version, ...page }
    return { body: JSON.stringify(body), ...state }
  },
})
