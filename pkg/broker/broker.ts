import { Hono } from 'hono'
import { RegistryError } from '../errors/errors.ts'
import { counter, type Logger, type Metrics, type RequestFacts } from '../telemetry/telemetry.ts'
import { boundedBody, tooLarge } from './bounded-body.ts'
import { forwardedHeaders, returnedHeaders } from './headers.ts'
import { Upstream } from './upstream.ts'

/** What the server passes along with a request. */
export interface BrokerEnv {
  Bindings: {
    readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } }
    readonly facts?: RequestFacts
  }
}

export interface BrokerOptions {
  /** The broker's address: scheme, host and port. */
  readonly url: string
  /** Add to what a proxy says in `X-Forwarded-*`, and do not replace it. */
  readonly trustProxy: boolean
  readonly log: Logger
  readonly metrics: Metrics
  /** For a whole exchange, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number
}

export interface Broker {
  readonly routes: Hono<BrokerEnv>
  close(): Promise<void>
}

const route = '/broker/*'
/** Forms and tokens going in, pages with their scripts and pictures coming out. */
const maxRequestBytes = 1024 * 1024
const maxResponseBytes = 32 * 1024 * 1024
const methods: ReadonlySet<string> = new Set('GET HEAD POST PUT PATCH DELETE OPTIONS'.split(' '))

/** What a broker might take for `..` although this server does not. */
const encodedDots = /(?:%2f|%5c|\/)(?:\.|%2e){1,2}(?:%2f|%5c|\/|$)/i

/**
 * Passes `/broker/*` on to the identity broker as it is, so that users can log in although they only reach this server.
 * Nothing is rewritten: the broker must know its own external address, path included.
 */
export function createBroker(options: BrokerOptions): Broker {
  const { trustProxy, log, timeoutMs = 30_000 } = options
  const upstream = new Upstream(options.url, timeoutMs)
  const requests = counter(options.metrics, {
    name: 'broker_proxy_requests_total',
    help: 'Requests passed on to the identity broker, by the code that was answered.',
    labels: ['code'],
  })

  const routes = new Hono<BrokerEnv>().all(route, async (c) => {
    const { raw, method } = c.req
    if (c.env?.facts !== undefined) c.env.facts.route = route
    const url = new URL(c.req.url)
    try {
      if (!methods.has(method)) {
        throw new RegistryError('MethodNotAllowed', `${method} is not passed on to the broker`)
      }
      if (Number(c.req.header('content-length') ?? 0) > maxRequestBytes) {
        throw tooLarge(maxRequestBytes)
      }
      if (encodedDots.test(url.pathname)) {
        throw new RegistryError('BadRequest', 'dots between encoded slashes are not passed on')
      }
      const body = method === 'GET' || method === 'HEAD' ? null : raw.body
      const answer = await upstream.send({
        method,
        path: url.pathname + url.search,
        headers: forwardedHeaders(raw.headers, {
          host: c.req.header('host') ?? url.host,
          protocol: url.protocol.slice(0, -1),
          remoteAddress: c.env?.incoming?.socket.remoteAddress,
          trustProxy,
        }),
        body: body && boundedBody(body, maxRequestBytes),
        signal: raw.signal,
      })
      requests.inc({ code: answer.status })
      return new Response(answer.body && boundedBody(answer.body, maxResponseBytes), {
        status: answer.status,
        headers: returnedHeaders(answer.headers),
      })
    } catch (thrown) {
      const error =
        thrown instanceof RegistryError
          ? thrown
          : new RegistryError(
              'BadGateway',
              'the identity broker cannot be reached: try again in a moment',
              { cause: thrown },
            )
      requests.inc({ code: error.status })
      log.debug({ component: 'broker', err: error }, 'request not passed on')
      throw error
    }
  })
  return { routes, close: () => upstream.close() }
}
