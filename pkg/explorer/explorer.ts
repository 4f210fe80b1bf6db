/**
 * The explorer: web pages of the registry. It keeps the sessions of people who sign in. In a small deployment, it is also the
 * entry point: it forwards requests for the server.
 */

import { Hono, type MiddlewareHandler } from 'hono'
import { RegistryError } from '../base/errors/errors.ts'
import type { Trust } from '../base/http/http.ts'
import { answerErrors, type ServingEnv } from '../base/serving/serving.ts'
import { counter, type Logger, type Metrics } from '../base/telemetry/telemetry.ts'
import { apiRoutes, proxyRoutes } from './api.ts'
import { authRoutes } from './auth.ts'
import { Cookies } from './cookies.ts'
import { authErrorRoutes, signedOutRoutes } from './door.ts'
import { readFirstView } from './first-view.ts'
import { ownHeaders } from './headers.ts'
import { Issuer, issuerFetch, type OidcOptions } from './issuer.ts'
import { loginRoutes } from './login.ts'
import { issuerGrant, sharedGrant } from './refresh.ts'
import { type ExplorerEnv, externalOf } from './request.ts'
import { Seal } from './seal.ts'
import { type Session, Sessions } from './session.ts'
import { shellRoutes } from './shell.ts'
import { readStaticFiles } from './static-files.ts'
import { type Deadlines, Upstream } from './upstream.ts'

export type { Boot } from './boot.ts'

export interface ExplorerOptions {
  /** The server: scheme, host and port. */
  readonly serverUrl: string
  /** PEM certificates of the server's authorities, read for each request. Default: those of this machine. */
  readonly serverCa?: (() => string | undefined) | undefined
  /** Address of the OIDC broker inside the cluster, so that logins need not leave the cluster. */
  readonly brokerUrl?: string | undefined
  /** Origin at which browsers reach the explorer. Default: from the request. Required with `oidc`. */
  readonly baseUrl?: string | undefined
  /** Trust `X-Forwarded-Proto` and `X-Forwarded-Host`. */
  readonly trustProxy: boolean
  /** Absent: no login. */
  readonly oidc?: OidcOptions | undefined
  /** Each has 32 characters or more; needed with `oidc` or `devTokenInput`. */
  readonly sessionPasswords: readonly string[]
  readonly sessionTtlMs: number
  readonly devTokenInput: boolean
  /** Folder of the built pages. */
  readonly dist: string
  readonly version: string
  readonly log: Logger
  readonly metrics: Metrics
  /** How long a page waits for the first answer of the API. After that, the browser sends the request. Default: 300. */
  readonly firstAnswerMs?: number
  /** Timeouts of requests to the server. Default: 5 s to connect, 30 s for each next part of an answer. */
  readonly deadlines?: Deadlines
}

export interface Explorer {
  readonly app: Hono<ServingEnv>
  readonly close: () => Promise<void>
}

/** @throws Error if the pages are not built */
export function createExplorer(options: ExplorerOptions): Explorer {
  const { oidc, log } = options
  const clock = Date.now
  const onLogin = loginCounter(options.metrics)
  const { upstream, broker } = upstreamsOf(options)
  const files = readStaticFiles(options.dist)
  const [first, ...others] = options.sessionPasswords
  const seal = first === undefined ? undefined : new Seal([first, ...others])
  const sessions = seal && new Sessions({ seal, ttlMs: options.sessionTtlMs, clock })
  const issuer = oidc && issuerOf(oidc, options, { server: upstream, broker })
  const refresh = issuer && sharedGrant(issuerGrant(issuer, log), clock)
  const { devTokenInput, version } = options

  const app = new Hono<ExplorerEnv>()
  app.use(whoAsks(options, sessions))
  // Answers of the server keep its headers.
  app.route('/', proxyRoutes(upstream))
  app.use(withOwnHeaders)
  app.route('/', apiRoutes(upstream))
  app.get('/robots.txt', (c) => c.text('User-agent: *\nDisallow: /\n'))
  app.route('/', files.routes)
  if (seal !== undefined && sessions !== undefined) {
    if (issuer !== undefined) {
      app.route('/', loginRoutes({ issuer, seal, sessions, onLogin, log, clock }))
      app.route('/', signedOutRoutes(issuer, files.stylesheets))
    }
    app.route('/', authErrorRoutes(files.stylesheets, oidc?.issuerUrl))
    app.route('/', authRoutes({ sessions, seal, issuer, refresh, devTokenInput, clock }))
  }
  app.all('/auth/*', notFound('no such endpoint: there is no login here'))
  app.all('/-/assets/*', notFound('no such file: the pages were rebuilt, reload the page'))
  app.route(
    '/',
    shellRoutes({
      page: files.page,
      firstView: readFirstView(options.dist, log),
      upstream,
      sessions,
      refresh,
      oidc: issuer !== undefined,
      devTokenInput,
      version,
      firstAnswerMs: options.firstAnswerMs ?? 300,
      clock,
    }),
  )

  const whole = new Hono<ServingEnv>().route('/', app)
  answerErrors(whole, log, 'see /')

  issuer?.start()
  return {
    app: whole,
    async close() {
      issuer?.stop()
      await Promise.all([upstream.close(), broker?.close()])
    },
  }
}

const notFound = (message: string) => (): never => {
  throw new RegistryError('NotFound', message)
}

function upstreamsOf(options: ExplorerOptions) {
  const { serverUrl: url, brokerUrl, trustProxy, deadlines } = options
  const trust = () => trustOf(options)
  return {
    upstream: new Upstream({ url, name: 'the registry', trust, trustProxy, deadlines }),
    broker:
      brokerUrl === undefined
        ? undefined
        : new Upstream({ url: brokerUrl, name: 'the identity broker', trustProxy }),
  }
}

function issuerOf(
  oidc: OidcOptions,
  { baseUrl, log }: ExplorerOptions,
  inside: { readonly server: Upstream; readonly broker: Upstream | undefined },
): Issuer {
  const fetch = issuerFetch({ issuerUrl: oidc.issuerUrl, baseUrl, ...inside })
  return new Issuer({ oidc, fetch, log })
}

function loginCounter(metrics: Metrics): (result: string) => void {
  const logins = counter(metrics, {
    name: 'ui_logins_total',
    help: 'Finished logins, by their result.',
    labels: ['result'],
  })
  return (result) => logins.inc({ result })
}

/** A certificate of a public authority names the base URL, and rarely the name of the server inside a cluster. */
function trustOf({ serverCa, baseUrl }: ExplorerOptions): Trust {
  return {
    ca: serverCa?.(),
    ...(baseUrl !== undefined && { alternativeName: new URL(baseUrl).hostname }),
  }
}

/** Gives all routes the address, the cookies and the session of a request. */
function whoAsks(
  { baseUrl, trustProxy }: ExplorerOptions,
  sessions: Sessions | undefined,
): MiddlewareHandler<ExplorerEnv> {
  return async (c, next) => {
    const external = externalOf(c.req, { baseUrl, trustProxy })
    const cookies = new Cookies(c.req.header('cookie'), external.isHttps)
    let opened: Promise<Session | undefined> | undefined
    c.set('external', external)
    c.set('cookies', cookies)
    c.set('session', () => {
      opened ??= sessions?.read(cookies) ?? Promise.resolve(undefined)
      return opened
    })
    await next()
    for (const line of cookies.lines) c.res.headers.append('Set-Cookie', line)
  }
}

const withOwnHeaders: MiddlewareHandler<ExplorerEnv> = async (c, next) => {
  await next()
  for (const [name, value] of Object.entries(ownHeaders(c.var.external))) {
    c.res.headers.set(name, value)
  }
}
