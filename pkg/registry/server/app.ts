import { Hono } from 'hono'
import { PatternRouter } from 'hono/router/pattern-router'
import type { PublishRights, WhoAmI } from '../../api/browse/browse.ts'
import { RegistryError } from '../../base/errors/errors.ts'
import {
  after,
  answerErrors,
  errorResponse,
  type Fetch,
  get,
  type Hot,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { type Auth, requestOf } from '../auth/auth.ts'
import type { Broker } from '../broker/broker.ts'
import { type BrowseOptions, createBrowse, prefix } from '../browse/browse.ts'
import type { Catalog } from '../catalog/catalog.ts'
import type { ControllerRoutes } from '../forwarding/forwarding.ts'
import { type McpOptions, mcpRoutes } from '../mcp/mcp.ts'
import { createRegistry, discoveryPaths, type RegistryOptions } from '../protocol/protocol.ts'
import { Search } from '../search/search.ts'

export interface AppOptions extends RegistryOptions, Omit<BrowseOptions, 'archives'> {
  /** Decides who may see what. Default: everybody sees everything. */
  readonly auth?: RegistryOptions['auth']
  /** Passes logins on. Default: none. */
  readonly broker?: Broker | undefined
  /** Passes on what the controller answers. Default: such paths do not exist. */
  readonly forwarding?: Pick<ControllerRoutes, 'routes'> | undefined
  /** Serves coding agents. Default: not. */
  readonly mcp?: Pick<McpOptions, 'metrics' | 'version'> | undefined
  readonly log: Logger
}

export interface App {
  readonly routes: Hono<ServingEnv>
  /** Finds ready answers, which are byte for byte those of the routes. */
  readonly hot: Hot
}

/** Everything that the public port serves, with one place that turns errors into answers. */
export function createApp(given: AppOptions): App {
  const options = { ...given, search: given.search ?? new Search(given.catalog) }
  // The fastest router for paths where a name and a word compete; the default would fall back to a slower one.
  const routes = new Hono<ServingEnv>({ router: new PatternRouter() })
  const { auth, broker, forwarding, mcp } = options
  const registry = createRegistry(options)
  const browse = createBrowse(options)
  routes.route('/', registry.routes)
  routes.route('/', browse.routes)
  if (auth !== undefined) {
    routes.route('/', callerRoutes(auth, options.catalog, forwarding !== undefined))
  }
  if (broker !== undefined) routes.route('/', broker.routes)
  if (forwarding !== undefined) routes.route('/', forwarding.routes)
  if (mcp !== undefined) routes.route('/', mcpRoutes({ ...options, ...mcp }))
  answerErrors(routes, options.log, 'see /.well-known/terraform.json')
  return {
    routes,
    hot: (request) =>
      request.url.startsWith(prefix) ? browse.hot(request) : registry.hot(request),
  }
}

/**
 * Removes the path of the base URL, if a proxy has left it; discovery stays at the root of the host.
 *
 * @param baseUrl without a trailing slash
 */
export function belowBasePath(fetch: Fetch, baseUrl: string | undefined): Fetch {
  const { pathname } = new URL(baseUrl ?? 'http://none')
  if (pathname === '/') return fetch
  return (request, bindings) => {
    const url = new URL(request.url)
    if (!url.pathname.startsWith(`${pathname}/`)) return fetch(request, bindings)
    url.pathname = url.pathname.slice(pathname.length)
    return fetch(new Request(url, request), bindings)
  }
}

/** Both ways to an answer: through the app, and past it if the answer is ready. */
interface Answers {
  readonly fetch: Fetch
  readonly hot: Hot
}

/**
 * Answers only discovery until the catalog is filled for the first time.
 *
 * It is not a middleware of the app, because that would make every answer wait for a turn of the event loop.
 */
export function gate({ fetch, hot }: Answers, waitingFor: () => readonly string[]): Answers {
  const open: ReadonlySet<string> = new Set(discoveryPaths)
  let isFilled = false
  const look = (): boolean => {
    isFilled = waitingFor().length === 0
    return isFilled
  }
  return {
    fetch(request, bindings) {
      if (isFilled || look() || open.has(new URL(request.url).pathname)) {
        return fetch(request, bindings)
      }
      return errorResponse(
        new RegistryError('Unavailable', 'the registry is still loading: try again in a moment'),
      )
    },
    hot: (request) => (isFilled || look() ? hot(request) : undefined),
  }
}

/** Limit of the namespaces that a cluster is asked about for one answer. */
const maxNamespaces = 100

/**
 * Tells callers who they are to the registry, and where they may publish.
 *
 * @param overHttp whether this server takes archives from callers
 */
function callerRoutes(auth: Auth, catalog: Catalog, overHttp: boolean): Hono<ServingEnv> {
  const app = new Hono<ServingEnv>()
  const answer = (body: WhoAmI | PublishRights): Response =>
    Response.json(body, { headers: { 'Cache-Control': 'no-store', Vary: 'Authorization' } })
  get(app, prefix, '/whoami', (c) => after(auth.whoAmI(requestOf(c)), answer))
  get(app, prefix, '/publish-rights', (c) => {
    const asked = catalog.model.namespaces.slice(0, maxNamespaces)
    return after(auth.publishers.rightsOf(requestOf(c), asked), (items) =>
      answer({ overHttp, items }),
    )
  })
  return app
}
