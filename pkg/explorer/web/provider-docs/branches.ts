import type { ProviderPage } from '../api/records.ts'

export interface Branch {
  readonly category: string
  readonly words: string
  /** Pages by subcategory; those without one come first. */
  readonly groups: readonly (readonly [subcategory: string, pages: readonly ProviderPage[]])[]
  readonly count: number
}

/** Categories in the order of the tree, and the name of a page in each. */
const kinds: Readonly<Record<string, string>> = {
  guides: 'Guide',
  resources: 'Resource',
  'data-sources': 'Data source',
  'ephemeral-resources': 'Ephemeral resource',
  'list-resources': 'List resource',
  actions: 'Action',
  functions: 'Function',
}

/** Category and subcategory of a page, such as `Resource, Inventory`. */
export const kindOfPage = ({
  category,
  subcategory,
}: Pick<ProviderPage, 'category' | 'subcategory'>) =>
  [
    category === 'overview' ? 'Overview' : (kinds[category] ?? category),
    ...(subcategory === undefined ? [] : [subcategory]),
  ].join(', ')

/** The pages that contain every word, as branches of a tree, without the overview. */
export function branchesOf(pages: readonly ProviderPage[], filter: string): Branch[] {
  const words = filter.toLowerCase().split(/\s+/)
  const isHit = ({ title, slug, subcategory = '' }: ProviderPage): boolean => {
    const text = `${title} ${slug} ${subcategory}`.toLowerCase()
    return words.every((word) => text.includes(word))
  }
  const found = Map.groupBy(pages.filter(isHit), ({ category }) => category as string)
  return Object.entries(kinds).flatMap(([category, kind]) => {
    const own = found.get(category)
    if (own === undefined) return []
    const sorted = own.toSorted((a, b) => a.title.localeCompare(b.title))
    const groups = Map.groupBy(sorted, ({ subcategory = '' }) => subcategory)
    const inOrder = [...groups].toSorted(([a], [b]) => a.localeCompare(b))
    return [{ category, words: `${kind}s`, groups: inOrder, count: own.length }]
  })
}
