/*
 * The explorer's pages by path, for the browser's router and for the server, which sends the status and the first API answer
 * of a page. Works without DOM.
 */
import {
  conflictsParams,
  conflictsUrl,
  depotsParams,
  detailUrl,
  graphUrl,
  type PageAddress,
  resourceParams,
  resourcesParams,
  resourcesUrl,
  statsParams,
  statsUrl,
  whoAmIUrl,
} from './url/pages.ts'
import { parse } from './url/search-params.ts'

export type ExplorerPage =
  | 'resources'
  | 'resource'
  | 'depots'
  | 'stats'
  | 'conflicts'
  | 'access'
  | 'not-found'

export interface Route {
  readonly page: ExplorerPage
  /** HTTP status of the page before the API has answered. */
  readonly status: 200 | 404
  /** URL of the page's first request, if it has one. */
  readonly primeUrl?: string
  /** Address of a resource's page. */
  readonly resource?: PageAddress
}

const resourcePattern = new URLPattern({
  pathname: '{/-/r}?/:namespace/:kind(module|provider)/:name{/}?',
})
const notFound: Route = { page: 'not-found', status: 404 }

export function matchRoute(url: URL): Route {
  const { pathname, searchParams } = url
  const found = resourcePattern.exec({ pathname })?.pathname.groups
  if (found !== undefined) return resourceRoute(found, searchParams)
  switch (pathname.length > 1 ? pathname.replace(/\/$/, '') : pathname) {
    case '/':
      return route('resources', resourcesUrl(parse(resourcesParams, searchParams)))
    case '/depots':
      return route('depots', graphUrl(parse(depotsParams, searchParams).namespace))
    case '/stats':
      return route('stats', statsUrl(parse(statsParams, searchParams).namespace))
    case '/conflicts':
      return route('conflicts', conflictsUrl(parse(conflictsParams, searchParams)))
    case '/access':
      return route('access', whoAmIUrl)
    default:
      return notFound
  }
}

const route = (page: ExplorerPage, primeUrl: string): Route => ({ page, status: 200, primeUrl })

function resourceRoute(groups: Record<string, string | undefined>, search: URLSearchParams): Route {
  const namespace = decoded(groups['namespace'])
  const name = decoded(groups['name'])
  const kind = groups['kind']
  if (namespace === undefined || name === undefined || kind === undefined) return notFound
  const resource = { namespace, kind, name }
  const { version } = parse(resourceParams, search)
  return { ...route('resource', detailUrl(resource, version)), resource }
}

/** Undefined for a path segment that cannot be a name: badly encoded, or one that would change the path. */
function decoded(segment = ''): string | undefined {
  try {
    const name = decodeURIComponent(segment)
    return name === '' || name === '.' || name === '..' || name.length > 253 ? undefined : name
  } catch {
    return undefined
  }
}
