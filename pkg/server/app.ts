import { Hono } from 'hono'
import { PatternRouter } from 'hono/router/pattern-router'
import type { Auth } from '../auth/auth.ts'
import type { Broker } from '../broker/broker.ts'
import { type BrowseOptions, browseRoutes } from '../browse/browse.ts'
import { RegistryError } from '../errors/errors.ts'
import { discoveryPaths, type RegistryOptions, registryRoutes } from '../registry/registry.ts'
import { answerErrors, errorResponse, type Fetch, type ServingEnv } from '../serving/serving.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import { accessOf, whoAmIRoutes } from './access.ts'

export interface AppOptions
  extends Omit<RegistryOptions, 'mayRead' | 'login'>,
    Omit<BrowseOptions, 'viewOf'> {
  /** Who may see what. Default: everybody everything. */
  readonly auth?: Auth | undefined
  /** Passes logins on. Default: this server has no broker behind it. */
  readonly broker?: Broker | undefined
  readonly log: Logger
}

export type App = Hono<ServingEnv>

/** Everything that the public port serves, with one place that turns errors into answers. */
export function createApp(options: AppOptions): App {
  // The fastest router that knows paths where a name and a word compete; the default would fall back to a slower one.
  const app = new Hono<ServingEnv>({ router: new PatternRouter() })
  const { auth, broker, catalog } = options
  const access = auth && accessOf(auth, catalog)
  app.route('/', registryRoutes({ ...options, ...access }))
  app.route('/', browseRoutes({ ...options, ...access }))
  if (auth !== undefined) app.route('/', whoAmIRoutes(auth))
  if (broker !== undefined) app.route('/', broker.routes)

  answerErrors(app, options.log, 'see /.well-known/terraform.json')
  return app
}

/**
 * Lets discovery through and nothing else until the catalog is filled.
 *
 * Stands before the app and not in it, because a middleware would make every answer wait a turn of the event loop.
 */
export function gate(app: App, ready: () => boolean): Fetch {
  const open: ReadonlySet<string> = new Set(discoveryPaths)
  return (request, bindings) => {
    if (ready() || open.has(new URL(request.url).pathname)) return app.fetch(request, bindings)
    return errorResponse(
      new RegistryError('Unavailable', 'the registry is still loading: try again in a moment'),
    )
  }
}
