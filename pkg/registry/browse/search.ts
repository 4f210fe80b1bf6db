import * as z from 'zod'
import { SearchResults } from '../../api/browse/browse.ts'
import { endpoint } from './endpoint.ts'
import { anyNamespace, kindOf, noParameters, onlyKind } from './parameters.ts'
import { exampleResource, resourceRecord } from './resource-record.ts'

const wholeNumber = (largest: number) => `must be a whole number from 1 to ${largest}`
const largestPage = 100

const query = z.object({
  q: z
    .string()
    .min(1, 'must not be empty')
    .meta({
      description:
        'At most 8 words in at most 256 bytes. Each word, or a longer one that begins with it, must be in a name, namespace, system, resource type, provider, input, output, submodule, description or README heading. Words of five letters and more may have one typing error.',
      examples: ['private subnets'],
    }),
  kind: onlyKind,
  namespace: anyNamespace,
  limit: z
    .string()
    .regex(/^(?:[1-9]\d?|100)$/, wholeNumber(largestPage))
    .transform(Number)
    .pipe(z.int().min(1).max(largestPage))
    .default(20)
    .meta({ description: 'Items of an answer.', examples: [50] }),
  cursor: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be `next` of an earlier answer')
    .optional()
    .meta({ description: '`next` of the previous answer.', examples: ['20'] }),
})

export const search = endpoint({
  route: '/search',
  operationId: 'search',
  summary: 'Search in names and documentation',
  description:
    'The modules and providers that the caller may see and whose latest versions have every word. Best first: equal names, names that begin with a word, words of names, resource types and providers, inputs and outputs and submodules, descriptions, README headings; then by downloads and name. Matches with a typing error come after all others.',
  path: noParameters,
  query,
  response: SearchResults,
  example: {
    items: [{ ...exampleResource, matched: [{ field: 'input', text: 'private_subnets' }] }],
    totalCount: 21,
    next: '20',
  },
  answer({ catalog, view, search: index, query: { q, kind, namespace, limit, cursor } }) {
    const filter = { kind: kind && kindOf[kind], namespaces: namespace }
    const { count, slice, isTruncated, matchesOf } = index.find(view, filter, q)
    const start = Number(cursor ?? 0)
    const end = start + limit
    const results: SearchResults = {
      items: slice(start, end).map((entry) => ({
        ...resourceRecord(entry, catalog),
        matched: [...matchesOf(entry)],
      })),
      totalCount: count,
      ...(end < count && { next: `${end}` }),
      ...(isTruncated && { isTruncated }),
    }
    return { body: JSON.stringify(results), revision: () => index.revision }
  },
})
