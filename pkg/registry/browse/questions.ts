import type * as z from 'zod'
import {
  ProviderPages,
  ProviderPageText,
  ResourceDetail,
  ScanFindings,
  SearchResults,
  VersionDocs,
  VersionList,
} from '../../api/browse/browse.ts'
import { ModuleComparison } from '../../api/docs/docs.ts'
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
    <R extends z.ZodType>(endpoint: BrowseEndpoint, response: R) =>
    async (view: View, path: Texts, query: Texts): Promise<z.output<R>> => {
      const parameters = { path: parse(endpoint.path, path), query: parse(endpoint.query, query) }
      return valueOf(response, endpoint.answer({ ...sources, view, ...parameters }))
    }
  const read =
    <Q extends z.ZodObject, P extends ResourcePath, R extends z.ZodType>(
      endpoint: DescribedEndpoint<Q, P>,
      response: R,
      compose: (asked: DocsAsked<Q, P>, storage: DocsStorage) => Promise<Composed>,
    ) =>
    async (view: View, path: Texts, query: Texts): Promise<z.output<R>> => {
      const parameters = { path: parse(endpoint.path, path), query: parse(endpoint.query, query) }
      return valueOf(response, await compose({ catalog, view, ...parameters }, archives))
    }
  return {
    search: ask(search, SearchResults),
    resource: ask(resource, ResourceDetail),
    versions: ask(versions, VersionList),
    findings: ask(scanFindings, ScanFindings),
    docs: read(moduleDocs, VersionDocs, docsAnswer),
    comparison: read(moduleComparison, ModuleComparison, comparisonAnswer),
    pages: read(providerPages, ProviderPages, pagesAnswer),
    page: read(providerPage, ProviderPageText, pageAnswer),
  }
}

const valueOf = <R extends z.ZodType>(response: R, { body }: Composed): z.output<R> =>
  response.parse(JSON.parse(body))
