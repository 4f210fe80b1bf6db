import type { ServerResponse } from 'node:http'
import { type Answer, createPool, type Pool, type Trust } from '../base/http/http.ts'
import { type Forwarding, type Incoming, ReverseProxy } from '../base/proxy/proxy.ts'
import type { External } from './request.ts'

export interface ProxiedUpstreamOptions {
  /** Scheme, host and port. */
  readonly url: string
  /** Name for errors, such as `the registry`. */
  readonly name: string
  /** Authorities of its certificate, read for each request. Default: those of this machine. */
  readonly trust?: (() => Trust | undefined) | undefined
  readonly trustProxy: boolean
  /** Default: `deadlines`. */
  readonly deadlines?: Deadlines | undefined
}

export interface Deadlines {
  /** Limit for a connection. */
  readonly connectMs: number
  /** How long the server may send nothing, before or within an answer. A body that keeps moving has no limit. */
  readonly silentMs: number
}

export const deadlines: Deadlines = { connectMs: 5_000, silentMs: 30_000 }
/** Downloads by slow clients occupy connections for a long time. */
const connections = 1_000
/** Leaves most connections to others, and is enough for a proxy that hides the addresses of many clients. */
const connectionsPerClient = 250
/** Logins send forms and tokens. The registry itself accepts no bodies. */
const largestRequestBytes = 1024 * 1024

/** A request of this process itself. */
export interface Question {
  readonly method: 'GET' | 'POST'
  /** Includes the query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | undefined
  readonly signal?: AbortSignal | undefined
}

/** One server behind the explorer, and the connections to it. */
export class Upstream {
  readonly #options: ProxiedUpstreamOptions
  readonly #pool: Pool
  readonly #proxy: ReverseProxy

  constructor(options: ProxiedUpstreamOptions) {
    this.#options = options
    const { url: to, trust, name, trustProxy } = options
    const { connectMs, silentMs } = options.deadlines ?? deadlines
    this.#pool = createPool({ connectMs, headersMs: silentMs, idleMs: silentMs })
    this.#proxy = new ReverseProxy({
      to,
      name,
      trustProxy,
      trust,
      maxRequestBytes: largestRequestBytes,
      connectMs,
      timeoutMs: silentMs,
      connections,
      perClient: connectionsPerClient,
    })
  }

  /** Forwards a request, streamed both ways. @throws RegistryError */
  forward(c: Incoming, external: External, { path, headers }: Forwarding): Promise<Response> {
    return this.#proxy.forward(c, {
      ...(path !== undefined && { path }),
      headers: { ...headers, ...hostHeaders(external), 'x-request-id': requestIdOf(c) },
    })
  }

  /** Sends a request of this process, with the host name that clients use. @throws Error without an answer */
  ask(external: External, { headers, ...question }: Question): Promise<Answer> {
    const { url: origin, trust } = this.#options
    return this.#pool.send(
      { origin, trust: trust?.() },
      {
        ...question,
        body: question.body ?? null,
        headers: { ...headers, ...hostHeaders(external) },
      },
    )
  }

  async close(): Promise<void> {
    await Promise.all([this.#pool.close(), this.#proxy.close()])
  }
}

/** Request id for both logs; undefined without a listener that assigns one. */
function requestIdOf({ env }: Incoming): string | undefined {
  const { outgoing } = (env ?? {}) as { readonly outgoing?: ServerResponse }
  return outgoing?.getHeader('x-request-id')?.toString()
}

function hostHeaders({ host, isHttps }: External): Record<string, string> {
  const scheme = isHttps ? 'https' : 'http'
  return { host, 'x-forwarded-host': host, 'x-forwarded-proto': scheme }
}
