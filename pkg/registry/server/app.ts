import { Hono } from 'hono'
import { PatternRouter } from 'hono/router/pattern-router'
import { RegistryError } from '../../base/errors/errors.ts'
import {
  answerErrors,
  errorResponse,
  type Fetch,
  type Hot,
  type ServingEnv,
} from '../../base/serving/serving.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { Broker } from '../broker/broker.ts'
import { type BrowseOptions, createBrowse, prefix } from '../browse/browse.ts'
import { createRegistry, discoveryPaths, type RegistryOptions } from '../protocol/protocol.ts'
import { whoAmIRoutes } from './who-am-i.ts'

export interface AppOptions extends RegistryOptions, BrowseOptions {
  /** Who may see what. Default: everybody everything. */
  readonly auth?: RegistryOptions['auth']
  /** Passes logins on. Default: this server has no broker behind it. */
  readonly broker?: Broker | undefined
  readonly log: Logger
}

export interface App {
  readonly routes: Hono<ServingEnv>
  /** Finds the answers that are ready, which are the same as those of the routes. */
  readonly hot: Hot
}

/** Everything that the public port serves, with one place that turns errors into answers. */
export function createApp(options: AppOptions): App {
  // The fastest router that knows paths where a name and a word compete; the default would fall back to a slower one.
  const routes = new Hono<ServingEnv>({ router: new PatternRouter() })
  const { auth, broker } = options
  const registry = createRegistry(options)
  const browse = createBrowse(options)
  routes.route('/', registry.routes)
  routes.route('/', browse.routes)
  if (auth !== undefined) routes.route('/', whoAmIRoutes(auth))
  if (broker !== undefined) routes.route('/', broker.routes)
  answerErrors(routes, options.log, 'see /.well-known/terraform.json')
  return {
    routes,
    hot: (request) =>
      request.url.startsWith(prefix) ? browse.hot(request) : registry.hot(request),
  }
}

/**
 * Takes the path of the base URL off, where a proxy has left it on; discovery stays at the root of the host.
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

/** Both ways to an answer: of the app, and past it where the answer is ready. */
interface Answers {
  readonly fetch: Fetch
  readonly hot: Hot
}

/**
 * Lets discovery through and nothing else until the catalog is filled, which it then stays.
 *
 * Stands before the app and not in it, because a middleware would make every answer wait a turn of the event loop.
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
