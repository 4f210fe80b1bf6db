import * as z from 'zod'
import { ProviderPages, ProviderPageText } from '../../api/browse/browse.ts'
import { type ProviderPage, pageCategories } from '../../api/docs/docs.ts'
import { notFound } from '../../base/errors/errors.ts'
import { type DocsStorage, pageOfVersion, pagesOfVersion } from '../documentation/documentation.ts'
import type { Composed, DescribedEndpoint } from './endpoint.ts'
import { chosenVersion, type DocsAsked } from './module-docs.ts'
import { oneOf, resourcePath, word } from './parameters.ts'
import { revisionOf } from './resource-record.ts'

const query = z.object({
  version: word.optional().meta({
    description: 'The version whose documentation to show. Default: the latest.',
    examples: ['1.1.0'],
  }),
})

const example = {
  category: 'resources',
  subcategory: 'Inventory',
  slug: 'host',
  title: 'cmdb_host',
  path: 'docs/resources/host.md',
} satisfies ProviderPage

export const providerPages = {
  route: '/resources/{namespace}/{kind}/{name}/pages',
  operationId: 'listPages',
  summary: "The pages of a provider's documentation",
  description:
    'Every page that the release of a provider version has, without its text. A module has none.',
  path: resourcePath,
  query,
  response: ProviderPages,
  example: {
    address: 'cmdb',
    version: '0.9.1',
    pages: [{ ...example, description: 'A host in the configuration database.' }],
    leftOut: 0,
  } satisfies ProviderPages,
  badRequest: 'version must not be empty',
  notFound: 'version 0.9.1 of provider platform/cmdb has no documentation',
  isFromStorage: true,
} as const satisfies DescribedEndpoint

const pagePath = resourcePath.extend({
  category: oneOf(pageCategories).meta({
    description: 'Part of the documentation.',
    examples: ['resources'],
  }),
  slug: word.meta({ description: 'Name of the page.', examples: ['host'] }),
})

export const providerPage = {
  route: '/resources/{namespace}/{kind}/{name}/pages/{category}/{slug}',
  operationId: 'getPage',
  summary: "A page of a provider's documentation",
  description: 'One page of the documentation of a provider version, with its text.',
  path: pagePath,
  query,
  response: ProviderPageText,
  example: {
    ...example,
    address: 'cmdb',
    version: '0.9.1',
    markdown: '# cmdb_host\n\nA host in the configuration database.\n',
  } satisfies ProviderPageText,
  badRequest: 'version must not be empty',
  notFound: 'version 0.9.1 of provider platform/cmdb has no page resources/rack: see its list',
  isFromStorage: true,
} as const satisfies DescribedEndpoint

/** @throws RegistryError as `pagesOfVersion` and `chosenVersion` */
export async function pagesAnswer(
  asked: DocsAsked<typeof query>,
  storage: DocsStorage,
): Promise<Composed> {
  const { catalog, view, path } = asked
  const { parent, summary, version } = chosenVersion(asked, asked.query.version, 'provider')
  const { pages, leftOut } = await pagesOfVersion(parent, version, storage)
  const body: ProviderPages = {
    address: summary.address,
    version,
    pages: pages.map(({ page }) => page),
    leftOut,
  }
  return { body: JSON.stringify(body), revision: () => revisionOf(catalog, view, path) }
}

/** @throws RegistryError as `pagesAnswer`; NotFound if there is no such page */
export async function pageAnswer(
  asked: DocsAsked<typeof query, typeof pagePath>,
  storage: DocsStorage,
): Promise<Composed> {
  const { catalog, view, path } = asked
  const { parent, summary, title, version } = chosenVersion(asked, asked.query.version, 'provider')
  const page = await pageOfVersion(parent, version, path, storage)
  if (page === undefined) {
    const wanted = `${path.category}/${path.slug}`
    throw notFound(`version ${version} of ${title} has no page ${wanted}: see its list of pages`)
  }
  const body: ProviderPageText = { address: summary.address, version, ...page }
  return { body: JSON.stringify(body), revision: () => revisionOf(catalog, view, path) }
}
