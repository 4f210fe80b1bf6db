import type * as z from 'zod'
import type {
  ProviderPages,
  ProviderPageText,
  ResourceDetail,
  SearchResults,
  VersionDocs,
  VersionFindings,
  VersionList,
} from '../../api/browse/browse.ts'
import type { ModuleComparison } from '../../api/docs/docs.ts'
import type { View } from '../catalog/catalog.ts'
import type { BrowseEndpoint } from './endpoint.ts'
import { moduleComparison } from './module-comparison.ts'
import { moduleDocs } from './module-docs.ts'
import { parse } from './parameters.ts'
import { providerPage, providerPages } from './provider-pages.ts'
import { resource } from './resource.ts'
import { search } from './search.ts'
import { type BrowseOptions, sourcesOf } from './sources.ts'
import { versionFindings } from './version-findings.ts'
import { versions } from './versions.ts'

/** Parameters as texts, as in a URL. */
type Texts = Readonly<Record<string, string | readonly string[] | undefined>>

export type Questions = ReturnType<typeof createQuestions>

/**
 * The questions of the API for callers within the process. Parameters, answers and errors are the same, but they pass a view
 * instead of a token.
 */
export function createQuestions(options: BrowseOptions) {
  const sources = sourcesOf(options)
  /** Keeps the last answer, because agents read long answers page by page. */
  const ask = <T>(endpoint: BrowseEndpoint) => {
    let last:
      | { readonly key: string; readonly isCurrent: () => boolean; readonly value: T }
      | undefined
    return async (view: View, path: Texts, query: Texts): Promise<T> => {
      const key = JSON.stringify([view.key, path, query])
      if (last?.key === key && last.isCurrent()) return last.value
      const parameters = { path: parse(endpoint.path, path), query: parse(endpoint.query, query) }
      const composed = await endpoint.answer({ ...sources, view, ...parameters })
      const { body, revision, madeAt = revision?.() } = composed
      const value = JSON.parse(body) as T
      last = { key, value, isCurrent: () => revision !== undefined && revision() === madeAt }
      return value
    }
  }
  return {
    search: ask<SearchResults>(search),
    resource: ask<ResourceDetail>(resource),
    versions: ask<z.output<typeof VersionList>>(versions),
    findings: ask<VersionFindings>(versionFindings),
    docs: ask<VersionDocs>(moduleDocs),
    comparison: ask<ModuleComparison>(moduleComparison),
    pages: ask<ProviderPages>(providerPages),
    page: ask<ProviderPageText>(providerPage),
  }
}
