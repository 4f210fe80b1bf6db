/** Logins by way of the registry's own name: passes `/broker/*` on to the identity broker. */

import { Hono } from 'hono'
import { RegistryError } from '../../base/errors/errors.ts'
import type { ProxyRules } from '../../base/http/http.ts'
import { ReverseProxy } from '../../base/proxy/proxy.ts'
import {
  counter,
  type Logger,
  type Metrics,
  type RequestFacts,
} from '../../base/telemetry/telemetry.ts'

/** What the server passes along with a request. */
interface BrokerEnv {
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
  /** The registry's own URL, where it is configured: its scheme and host are what the broker hears. */
  readonly baseUrl?: string | undefined
  /** The ways out. Default: direct. */
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
/** Forms and tokens going in, pages with their scripts and pictures coming out. */
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
      // The path as it is sent on, whatever the router took it for.
      if (!/^\/broker(?:\/|$)/.test(new URL(c.req.url).pathname)) {
        throw new RegistryError(
          'BadRequest',
          'the path leads out of /broker: write it without dots',
        )
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
