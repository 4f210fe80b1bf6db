import type * as z from 'zod'
import type {
  ResourceDetail,
  ScanFindings,
  SearchResults,
  VersionList,
} from '../../api/browse/browse.ts'
import type { View } from '../catalog/catalog.ts'
import type { DocsStorage } from '../documentation/documentation.ts'
import { Search } from '../search/search.ts'
import { type BrowseOptions, noReadmes } from './browse.ts'
import type { BrowseEndpoint, Composed, DescribedEndpoint } from './endpoint.ts'
import { FirstSeen } from './first-seen.ts'
import { noArchives } from './live-routes.ts'
import { comparisonAnswer, moduleComparison } from './module-comparison.ts'
import { type DocsAsked, docsAnswer, moduleDocs } from './module-docs.ts'
import { parse, type ResourcePath } from './parameters.ts'
import { pageAnswer, pagesAnswer, providerPage, providerPages } from './provider-pages.ts'
import { resource } from './resource.ts'
import { scanFindings } from './scan-findings.ts'
import { search } from './search.ts'
import { versions } from './versions.ts'

/** Parameters as texts, as in a URL. */
type Texts = Readonly<Record<string, string | readonly string[] | undefined>>

export type Questions = ReturnType<typeof createQuestions>

/**
 * The questions of the API for callers within the process: the same parameters, answers and errors, for a view instead of a
 * token.
 */
export function createQuestions(options: BrowseOptions) {
  const { catalog, readmes = noReadmes, archives = noArchives, clock = Date.now } = options
  const { search: index = new Search(catalog) } = options
  const sources = { catalog, readmes, search: index, firstSeen: new FirstSeen(clock) }

  const ask =
    <T>(endpoint: BrowseEndpoint) =>
    async (view: View, path: Texts, query: Texts): Promise<T> => {
      const parameters = { path: parse(endpoint.path, path), query: parse(endpoint.query, query) }
      return JSON.parse(endpoint.answer({ ...sources, view, ...parameters }).body) as T
    }
  const read =
    <Q extends z.ZodObject, P extends ResourcePath, R extends z.ZodType>(
      endpoint: DescribedEndpoint<Q, P> & { readonly response: R },
      compose: (asked: DocsAsked<Q, P>, storage: DocsStorage) => Promise<Composed>,
    ) =>
    async (view: View, path: Texts, query: Texts): Promise<z.output<R>> => {
      const parameters = { path: parse(endpoint.path, path), query: parse(endpoint.query, query) }
      const { body } = await compose({ catalog, view, ...parameters }, archives)
      return JSON.parse(body) as z.output<R>
    }
  return {
    search: ask<SearchResults>(search),
    resource: ask<ResourceDetail>(resource),
    versions: ask<z.output<typeof VersionList>>(versions),
    findings: ask<ScanFindings>(scanFindings),
    docs: read(moduleDocs, docsAnswer),
    comparison: read(moduleComparison, comparisonAnswer),
    pages: read(providerPages, pagesAnswer),
    page: read(providerPage, pageAnswer),
  }
}
