/*
 * The explorer's pages by path, for the browser's router and for the server, which sends the status and the first API answer
 * of a page. Works without DOM.
 */
import {
  conflictsParams,
  conflictsUrl,
  type DocsPlace,
  detailUrl,
  docsParams,
  folderTabs,
  graphUrl,
  heldBackParams,
  heldBackUrl,
  type PageAddress,
  publishRightsUrl,
  resourceParams,
  resourcesParams,
  resourcesUrl,
  statsParams,
  statsUrl,
  type VersionRange,
  whoAmIUrl,
} from './url/pages.ts'
import { decoded, parse } from './url/search-params.ts'

export type ExplorerPage =
  | 'resources'
  | 'resource'
  | 'compare'
  | 'docs'
  | 'depots'
  | 'stats'
  | 'conflicts'
  | 'held-back'
  | 'publish'
  | 'access'
  | 'not-found'

export interface Route {
  readonly page: ExplorerPage
  /** HTTP status of the page before the API has answered. */
  readonly status: 200 | 404
  /** URL of the page's first request, if it has one. */
  readonly primeUrl?: string
  readonly resource?: PageAddress
  /** The versions that the page compares. */
  readonly range?: VersionRange
  /** The page of a provider's documentation. */
  readonly place?: DocsPlace
}

const resourcePattern = new URLPattern({
  pathname: '{/-/r}?/:namespace/:kind(module|provider)/:name{/}?',
})
const comparePattern = new URLPattern({
  pathname: '{/-/r}?/:namespace/:kind(module)/:name/compare{/:range}?{/}?',
})
const docsPattern = new URLPattern({
  pathname: '{/-/r}?/:namespace/:kind(provider)/:name/docs{/:page(.*)}?',
})
const folderPattern = new URLPattern({
  pathname: '{/-/r}?/:namespace/:kind(module)/:name/:tab(submodules|examples)/:folder{/}?',
})
const notFound: Route = { page: 'not-found', status: 404 }

export function matchRoute(url: URL): Route {
  const { pathname, searchParams } = url
  const found = resourcePattern.exec({ pathname })?.pathname.groups
  if (found !== undefined) {
    return resourceRoute('resource', found, parse(resourceParams, searchParams).version)
  }
  const inside = folderPattern.exec({ pathname })?.pathname.groups
  if (inside !== undefined) return folderRoute(inside, parse(resourceParams, searchParams).version)
  const compared = comparePattern.exec({ pathname })?.pathname.groups
  if (compared !== undefined) return compareRoute(compared)
  const docs = docsPattern.exec({ pathname })?.pathname.groups
  if (docs !== undefined) return docsRoute(docs, parse(docsParams, searchParams).version)
  switch (pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname) {
    case '/':
      return route('resources', resourcesUrl(parse(resourcesParams, searchParams)))
    case '/depots':
      return route('depots', graphUrl(parse(statsParams, searchParams)))
    case '/stats':
      return route('stats', statsUrl(parse(statsParams, searchParams)))
    case '/conflicts':
      return route('conflicts', conflictsUrl(parse(conflictsParams, searchParams)))
    case '/held-back':
      return route('held-back', heldBackUrl(parse(heldBackParams, searchParams)))
    case '/publish':
      return route('publish', publishRightsUrl)
    case '/access':
      return route('access', whoAmIUrl)
    default:
      return notFound
  }
}

const route = (page: ExplorerPage, primeUrl: string): Route => ({ page, status: 200, primeUrl })

type Groups = Readonly<Record<string, string | undefined>>

function resourceRoute(page: ExplorerPage, groups: Groups, version: string): Route {
  const namespace = nameIn(groups['namespace'])
  const name = nameIn(groups['name'])
  const kind = groups['kind']
  if (namespace === undefined || name === undefined || kind === undefined) return notFound
  const resource = { namespace, kind, name }
  return { ...route(page, detailUrl(resource, version)), resource }
}

/** `submodules/peering`, or `examples/complete`. */
function folderRoute(groups: Groups, version: string): Route {
  const module = resourceRoute('resource', groups, version)
  const tab = folderTabs.find((one) => one === groups['tab'])
  const name = nameIn(groups['folder'])
  if (module.resource === undefined || tab === undefined || name === undefined) return notFound
  return { ...module, resource: { ...module.resource, folder: { tab, name } } }
}

/** `compare/1.0.0...2.0.0`; without versions, the page chooses them. */
function compareRoute(groups: Groups): Route {
  const text = groups['range'] === undefined ? '...' : nameIn(groups['range'])
  const [, from, to] = /^(.*?)\.\.\.(.*)$/.exec(text ?? '') ?? []
  if (from === undefined || to === undefined) return notFound
  return { ...resourceRoute('compare', groups, ''), range: { from, to } }
}

/** `docs/resources/host`; without a page, the first one is shown. */
function docsRoute(groups: Groups, version: string): Route {
  const [, category = '', segment] = /^(?:([^/]+)\/([^/]+)\/?)?$/.exec(groups['page'] ?? '') ?? []
  const isFirst = (groups['page'] ?? '') === ''
  const slug = isFirst ? '' : nameIn(segment)
  if (slug === undefined) return notFound
  return { ...resourceRoute('docs', groups, version), place: { category, slug } }
}

/** Undefined for a path segment that cannot be a name: badly encoded, or one that would change the path. */
function nameIn(segment = ''): string | undefined {
  const name = decoded(segment) ?? ''
  return name === '' || name === '.' || name === '..' || name.length > 253 ? undefined : name
}
