import { Hono } from 'hono'
import { PatternRouter } from 'hono/router/pattern-router'
import type { Auth } from '../auth/auth.ts'
import type { Broker } from '../broker/broker.ts'
import { type BrowseOptions, browseRoutes } from '../browse/browse.ts'
import { RegistryError } from '../errors/errors.ts'
import {
  discoveryPaths,
  type RegistryEnv,
  type RegistryOptions,
  registryRoutes,
} from '../registry/registry.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import { accessOf, whoAmIRoutes } from './access.ts'

export interface AppOptions
  extends Omit<RegistryOptions, 'mayRead' | 'login'>,
    Omit<BrowseOptions, 'viewOf'> {
  /** Who may see what. Default: everybody everything. */
  readonly auth?: Auth | undefined
  /** Passes logins on. Default: this server has no broker behind it. */
  readonly broker?: Broker | undefined

  /** Whether the catalog has been filled; until then only discovery answers. */
  readonly ready: () => boolean
  readonly log: Logger
}

export type App = Hono<RegistryEnv>

const allowedMethods = 'GET, HEAD'

/** Everything that the public port serves, with one place that turns errors into answers. */
export function createApp(options: AppOptions): App {
  // The fastest router that knows paths where a name and a word compete; the default would fall back to a slower one.
  const app = new Hono<RegistryEnv>({ router: new PatternRouter() })
  const { auth, broker, catalog } = options
  const access = auth && accessOf(auth, catalog)
  app.route('/', registryRoutes({ ...options, ...access }))
  app.route('/', browseRoutes({ ...options, ...access }))
  if (auth !== undefined) app.route('/', whoAmIRoutes(auth))
  if (broker !== undefined) app.route('/', broker.routes)

  app.notFound((c) => {
    const { method, path } = c.req
    if (method !== 'GET' && method !== 'HEAD' && knows(app, path)) {
      return errorResponse(
        new RegistryError('MethodNotAllowed', `${method} is not allowed here, only GET and HEAD`, {
          headers: { Allow: allowedMethods },
        }),
      )
    }
    return errorResponse(
      new RegistryError('NotFound', 'no such endpoint: see /.well-known/terraform.json'),
    )
  })

  app.onError((error) => {
    if (error instanceof RegistryError && error.status !== 500) {
      if (error.cause !== undefined) options.log.warn({ err: error }, 'request failed')
      return errorResponse(error)
    }
    options.log.error({ err: error }, 'request failed unexpectedly')
    return errorResponse(new RegistryError('Internal', 'internal error: see the log of the server'))
  })

  return app
}

/**
 * Lets discovery through and nothing else until the catalog is filled.
 *
 * Stands before the app and not in it, because a middleware would make every answer wait a turn of the event loop.
 */
export function gate(app: App, ready: () => boolean): App['fetch'] {
  const open: ReadonlySet<string> = new Set(discoveryPaths)
  return (request, ...rest) => {
    if (ready() || open.has(new URL(request.url).pathname)) return app.fetch(request, ...rest)
    return errorResponse(
      new RegistryError('Unavailable', 'the registry is still loading: try again in a moment'),
    )
  }
}

/**
 * `{"errors": ["message"]}`: the shape whose messages Terraform prints, where it reads a body. Of many answers it prints
 * the status line alone, so the message is the reason phrase too.
 */
export function errorResponse(error: RegistryError): Response {
  return new Response(JSON.stringify({ errors: [error.message] }), {
    status: error.status,
    statusText: error.message.replaceAll(/[^\x20-\x7e]/g, '?').slice(0, 300),
    headers: {
      'Content-Type': 'application/json',
      ...(error.status === 503 && { 'Retry-After': '5' }),
      ...error.headers,
    },
  })
}

function knows(app: App, path: string): boolean {
  return app.router.match('GET', path)[0].length > 0
}
