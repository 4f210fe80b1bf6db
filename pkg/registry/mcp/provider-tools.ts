import * as z from 'zod'
import { pageCategories } from '../../api/docs/docs.ts'
import { usageBlock } from '../../api/usage/usage.ts'
import { badRequest } from '../../base/errors/errors.ts'
import { itemsOf, textOf } from './page.ts'
import { factsOf, subjectOf, tool, usageOf, version, word } from './tool.ts'

const providerAddress = word(
  'Address of the provider: namespace/type, with or without the host in front.',
)

const getProvider = tool({
  name: 'get_provider',
  title: 'Get a provider',
  description:
    'Reads a version of a provider: its platforms, findings and downloads, where its documentation is, and the block that requires it.',
  input: z.strictObject({ provider: providerAddress, version }),
  async answer(input, asked) {
    const { questions, view, host } = asked
    const { path, version: wanted } = subjectOf(asked, ['Provider'], input.provider, input.version)
    const detail = await questions.resource(view, path, { version: wanted, findings: 'false' })
    const { address, selectedVersion } = detail
    const used = { registryHost: host, ...path, address }
    return {
      head: {
        ...factsOf(detail, host),
        platforms: detail.platforms,
        documentation:
          detail.hasPages === true
            ? 'get_provider_docs has it'
            : (detail.upstreamDocsUrl ?? 'this version has none'),
      },
      parts: usageOf(detail, usageBlock(used, 'terraform', selectedVersion)),
    }
  },
})

const getProviderDocs = tool({
  name: 'get_provider_docs',
  title: 'Read the documentation of a provider',
  description:
    'Without page: the list of all pages of a version. With page: the text of one, such as resources/host.',
  input: z.strictObject({
    provider: providerAddress,
    version,
    page: word('Category and name of a page, such as resources/host.').optional(),
  }),
  async answer(input, asked) {
    const { questions, view } = asked
    const { path, version: wanted } = subjectOf(asked, ['Provider'], input.provider, input.version)
    const query = { version: wanted }
    const { provider } = input
    if (input.page === undefined) {
      const { version: number, pages, leftOut } = await questions.pages(view, path, query)
      const items = pages.map(({ category, slug, title, subcategory, description }) => ({
        page: `${category}/${slug}`,
        title,
        subcategory,
        description,
      }))
      return {
        head: { provider, version: number, pageCount: pages.length, leftOut },
        parts: itemsOf('pages', items),
      }
    }
    const { markdown, ...page } = await questions.page(
      view,
      { ...path, ...placeOf(input.page) },
      query,
    )
    return { head: { provider, ...page }, parts: textOf('documentation', markdown) }
  },
})

/** @throws RegistryError BadRequest */
function placeOf(page: string): { readonly category: string; readonly slug: string } {
  const [category = '', slug, ...rest] = page.split('/')
  const isKnown = pageCategories.some((one) => one === category)
  if (isKnown && slug !== undefined && rest.length === 0) return { category, slug }
  throw badRequest(
    `page must be a category and a name, such as resources/host: get_provider_docs without page lists them. Categories are ${pageCategories.join(', ')}`,
  )
}

export const providerTools = [getProvider, getProviderDocs]
