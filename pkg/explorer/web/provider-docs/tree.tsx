import { Fragment } from 'preact'
import type { ProviderPage, ProviderPages } from '../api/records.ts'
import { number, plural } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { SearchField } from '../parts/search-field.tsx'
import { type DocsValues, docsHref, type PageAddress } from '../url/pages.ts'

interface Props {
  readonly address: PageAddress
  readonly list: ProviderPages
  readonly current: ProviderPage | undefined
  readonly values: DocsValues
  readonly onFilter: (filter: string) => void
}

/** Links to all pages of the documentation. */
export function Tree(props: Props) {
  const { list, current, values, onFilter } = props
  const branches = branchesOf(list.pages, values.q)
  const overview = list.pages.find(({ category }) => category === 'overview')
  return (
    <nav class="doc-nav" aria-label="Documentation" onKeyDown={onKeyDown}>
      <details class="doc-fold">
        <summary class="btn">
          <Icon name="menu" />
          All pages
          <span class="quiet">{current?.title}</span>
        </summary>
        <SearchField
          label={`Filter ${plural(list.pages.length, 'page')}`}
          value={values.q}
          onSearch={onFilter}
        />
        <ul class="doc-tree">
          {overview !== undefined && (
            <li>
              <PageLink {...props} page={overview} />
            </li>
          )}
          {branches.map(({ category, words, groups, count }) => (
            <li key={category} class={category}>
              <details open={values.q !== '' || current?.category === category}>
                <summary>
                  <Icon name="right" />
                  <span>{words}</span>
                  <span class="quiet num">{number(count)}</span>
                </summary>
                <ul>
                  {groups.map(([subcategory, pages]) => (
                    <Fragment key={subcategory}>
                      {subcategory !== '' && <li class="sub-h">{subcategory}</li>}
                      {pages.map((page) => (
                        <li key={page.slug}>
                          <PageLink {...props} page={page} />
                        </li>
                      ))}
                    </Fragment>
                  ))}
                </ul>
              </details>
            </li>
          ))}
        </ul>
        {branches.length === 0 && values.q !== '' && (
          <p class="quiet">No page matches the filter.</p>
        )}
        {list.leftOut > 0 && (
          <p class="quiet">{plural(list.leftOut, 'page')} did not fit, and were left out.</p>
        )}
      </details>
    </nav>
  )
}

const PageLink = ({ address, current, values, page }: Props & { readonly page: ProviderPage }) => (
  <a
    href={docsHref(address, page, values)}
    aria-current={page.path === current?.path ? 'page' : undefined}
  >
    <span>{page.title}</span>
  </a>
)

/** Up and down move between pages and branches, right and left open and close a branch. */
function onKeyDown(event: preact.TargetedKeyboardEvent<HTMLElement>): void {
  const tree = event.currentTarget
  const at = document.activeElement
  if (!(at instanceof HTMLElement) || at.closest('.doc-tree') === null) return
  const { key } = event
  if (key === 'ArrowDown' || key === 'ArrowUp') {
    const stops = [...tree.querySelectorAll<HTMLElement>('.doc-tree :is(a, summary)')].filter(
      (one) => one.checkVisibility(),
    )
    stops[stops.indexOf(at) + (key === 'ArrowDown' ? 1 : -1)]?.focus()
  } else if (key === 'ArrowRight' || key === 'ArrowLeft') {
    const branch = at.closest<HTMLDetailsElement>('.doc-tree details')
    if (branch === null) return
    branch.open = key === 'ArrowRight'
    if (key === 'ArrowLeft') branch.querySelector('summary')?.focus()
  } else return
  event.preventDefault()
}

interface Branch {
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
function branchesOf(pages: readonly ProviderPage[], filter: string): Branch[] {
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
