/** Logins under the registry's own host name: passes `/broker/*` on to the identity broker. */

import { Hono } from 'hono'
import { badRequest, RegistryError } from '../../base/errors/errors.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import { ReverseProxy } from '../../base/proxy/proxy.ts'
import {
  counter,
  type Logger,
  type Metrics,
  type RequestFacts,
} from '../../base/telemetry/telemetry.ts'

/** Parts of a request that the server passes along. */
interface BrokerEnv {
  Bindings: {
    readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } }
    readonly facts?: RequestFacts
  }
}

export interface BrokerOptions {
  /** The broker's address: scheme, host and port. */
  readonly url: string
  /** Append to the `X-Forwarded-*` headers of a proxy instead of replacing them. */
  readonly trustProxy: boolean
  /** The registry's own URL, if it is configured: the broker gets its scheme and host. */
  readonly baseUrl?: string | undefined
  /** Proxies for outgoing requests. Default: none. */
  readonly proxies?: ProxyRules | undefined
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
/** Requests are forms and tokens, answers are pages with their scripts and pictures. */
const maxRequestBytes = 1024 * 1024
const maxResponseBytes = 32 * 1024 * 1024

/** Nothing is rewritten: the broker must know its own external address, path included. */
export function createBroker(options: BrokerOptions): Broker {
  const { url: to, trustProxy, baseUrl, proxies, log, metrics, timeoutMs = 30_000 } = options
  const proxy = new ReverseProxy({
    to,
    name: 'the identity broker',
    trustProxy,
    baseUrl,
    proxies,
    maxRequestBytes,
    maxResponseBytes,
    timeoutMs,
    totalMs: timeoutMs,
  })
  const requests = counter(metrics, {
    name: 'broker_proxy_requests_total',
    help: 'Requests passed on to the identity broker, by the code that was answered.',
    labels: ['code'],
  })

  const routes = new Hono<BrokerEnv>().all(route, async (c) => {
    if (c.env?.facts !== undefined) c.env.facts.route = route
    try {
      // The path that is sent on, which the router may have read differently.
      if (!/^\/broker(?:\/|$)/.test(new URL(c.req.url).pathname)) {
        throw badRequest('the path leads out of /broker: remove its dot segments')
      }
      const answer = await proxy.forward(c)
      requests.inc({ code: answer.status })
      return answer
    } catch (thrown) {
      if (thrown instanceof RegistryError) requests.inc({ code: thrown.status })
      log.debug({ component: 'broker', err: thrown }, 'request not passed on')
      throw thrown
    }
  })
  return { routes, close: () => proxy.close() }
}
