/*
 * The list of resources as HTML, which readers see until the app renders the same. It is built for Node, because the
 * explorer's server runs it.
 */
import { renderToString } from 'preact-render-to-string'
import { hasShape } from './api/client.ts'
import type { ResourcePage } from './api/records.ts'
import { ActiveFilters } from './resources/chips.tsx'
import { Filters } from './resources/filters.tsx'
import { ListHead, ResourceList } from './resources/list.tsx'
import { resourcesParams, resourcesUrl } from './url/pages.ts'
import { parse } from './url/search-params.ts'

/**
 * @param search of the page's URL
 * @param answer of the API to the page's first request
 * @returns the content of `<main>`; undefined without a list to render
 */
export function drawFirstView(search: URLSearchParams, answer: unknown): string | undefined {
  const values = parse(resourcesParams, search)
  if (!isList(resourcesUrl(values), answer) || answer.items.length === 0) return undefined
  return renderToString(
    <>
      <ListHead data={answer} values={values} />
      {/* The app has not started, so it would not notice a choice. */}
      <div inert>
        <Filters values={values} namespaces={undefined} change={ignore} />
        <ActiveFilters values={values} change={ignore} />
      </div>
      <div class="region">
        <ResourceList data={answer} values={values} onRows={undefined} />
      </div>
    </>,
  )
}

const ignore = (): void => undefined

function isList(url: string, answer: unknown): answer is ResourcePage {
  if (!hasShape(url, answer)) return false
  const { items, page } = answer as ResourcePage
  return items.every(({ name }) => typeof name === 'string') && Number.isInteger(page)
}
