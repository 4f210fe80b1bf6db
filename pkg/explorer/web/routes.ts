/*
 * The explorer's pages by path, for the browser's router and for the server, which sends a page's status and first API
 * answer along. No DOM here.
 */

export type Page = 'resources' | 'resource' | 'depots' | 'stats' | 'access' | 'not-found'

export interface Route {
  readonly page: Page
  /** HTTP status of the page, before the API was asked. */
  readonly status: 200 | 404
  /** The page's first request, where it has one that can be told from the URL. */
  readonly primeUrl?: string
  /** Of a resource. */
  readonly resource?: { readonly namespace: string; readonly kind: string; readonly name: string }
}

const api = '/-/api'
const resourcePath =
  /^(?:\/-\/r)?\/(?<namespace>[^/]+)\/(?<kind>module|provider)\/(?<name>[^/]+)\/?$/

export function matchRoute(url: URL): Route {
  const { pathname, searchParams } = url
  const { namespace, kind, name } = resourcePath.exec(pathname)?.groups ?? {}
  if (namespace !== undefined && kind !== undefined && name !== undefined) {
    return {
      page: 'resource',
      status: 200,
      primeUrl: `${api}/resources/${namespace}/${kind}/${name}`,
      resource: { namespace, kind, name },
    }
  }
  const query = new URLSearchParams()
  for (const one of searchParams.getAll('namespace')) query.append('namespace', one)
  const chosen = query.size === 0 ? '' : `?${query}`
  switch (pathname) {
    case '/':
      return { page: 'resources', status: 200, primeUrl: `${api}/resources${url.search}` }
    case '/depots':
      return { page: 'depots', status: 200, primeUrl: `${api}/depots/graph${chosen}` }
    case '/stats':
      return { page: 'stats', status: 200, primeUrl: `${api}/stats${chosen}` }
    case '/access':
      return { page: 'access', status: 200, primeUrl: `${api}/whoami` }
    default:
      return { page: 'not-found', status: 404 }
  }
}
