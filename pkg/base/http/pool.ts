import { isIP, type LookupFunction } from 'node:net'
import type { Readable } from 'node:stream'
import {
  checkServerIdentity,
  createSecureContext,
  type PeerCertificate,
  type SecureContextOptions,
} from 'node:tls'
import { callbackify, isDeepStrictEqual } from 'node:util'
import { LRUCache } from 'lru-cache'
import type * as undici from 'undici'
import type { buildConnector, Dispatcher } from 'undici'
import { Slots } from '../pacing/pacing.ts'
import type { ProxyRules } from './proxy-rules.ts'

/** The authorities to trust, and the client certificate to present. */
export interface Trust
  extends Pick<SecureContextOptions, 'ca' | 'cert' | 'key' | 'pfx' | 'passphrase'> {
  readonly servername?: string | undefined
  readonly rejectUnauthorized?: boolean | undefined
  /** A certificate for this name is accepted in addition to one for the destination. */
  readonly alternativeName?: string | undefined
}

/** All times in milliseconds. */
export interface PoolOptions {
  /** Maximum number of connections to one origin. Default: one for each request. */
  readonly connections?: number
  /** Deadline for opening a connection, including TLS. */
  readonly connectMs: number
  /** Deadline of the response headers; 0: none. */
  readonly headersMs: number
  /** Maximum pause within a body; 0: no limit. */
  readonly idleMs: number
  /** Deadline of the whole exchange, from sending the request to the last byte. Default: none. */
  readonly totalMs?: number
  /**
   * If all `connections` are taken, a request waits for one; its own deadlines start afterwards. Default: no limit of
   * waiting requests or of their time.
   */
  readonly waiting?: { readonly max: number; readonly ms: number }
  /** How long an unused connection is kept. Default: 4 s. */
  readonly keepAliveMs?: number
  /** Proxies for destinations that have none of their own. Default: direct. */
  readonly proxies?: ProxyRules | undefined
  /**
   * Gives the addresses of a host that a direct connection may use; `send` fails with the error that it throws. It is also
   * called for hosts that are addresses. Default: all addresses that the machine finds.
   */
  readonly addresses?: (hostname: string) => Promise<readonly ResolvedAddress[]>
}

/** An address of a host, as `dns.lookup` returns it. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: 4 | 6
}

interface Destination {
  /** Scheme, host and port. */
  readonly origin: string
  /** Default: the authorities of this machine. */
  readonly trust?: Trust | undefined
  readonly proxyUrl?: string | undefined
}

export interface OutgoingRequest {
  readonly method: Dispatcher.HttpMethod
  /** Includes the query. */
  readonly path: string
  /** An array has pairs of name and value, which keep repeated headers. */
  readonly headers?: Readonly<Record<string, string>> | string[]
  readonly body?: Readable | string | null
  readonly signal?: AbortSignal | undefined
  /** Overrides the value of the pool. */
  readonly idleMs?: number
  /** Overrides the value of the pool. */
  readonly headersMs?: number
  /** Number of bytes of the body that are read ahead. */
  readonly highWaterMark?: number
}

export interface Answer {
  readonly status: number
  /** The reason phrase. */
  readonly statusText: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The first header of that name, in lower case. */
  readonly header: (name: string) => string | undefined
  /** Must be read to its end or destroyed. */
  readonly body: Readable
}

export type Pool = Pick<ConnectionPool, keyof ConnectionPool>

/** Connections are kept for later requests. */
export const createPool = (options: PoolOptions): Pool => new ConnectionPool(options)

/** True if an exchange failed because it took too long. */
export function isTimeout(thrown: unknown): boolean {
  if (!(thrown instanceof Error)) return false
  const code = 'code' in thrown ? thrown.code : undefined
  return thrown.name === 'TimeoutError' || timeoutCodes.has(code)
}

const timeoutCodes: ReadonlySet<unknown> = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
])

type Library = Pick<typeof undici, 'Agent' | 'ProxyAgent' | 'buildConnector'>
let loaded: Library | undefined

/** The client takes 8 MB of memory, so it is loaded with the first request: a server of files sends none. */
async function library(): Promise<Library> {
  loaded ??= await import('./undici.ts')
  return loaded
}

/** One direct client and a few for proxies; more would be a mistake. */
const maxRoutes = 8

interface Route {
  readonly dispatcher: Dispatcher
  readonly trust: Trust | undefined
}

class ConnectionPool {
  readonly #options: PoolOptions
  /** By URL of the proxy; '' is the direct route. */
  readonly #routes = new LRUCache<string, Route>({
    max: maxRoutes,
    dispose: ({ dispatcher }) => this.#retire(dispatcher),
  })
  /** Replaced clients whose exchanges still run. */
  readonly #retired = new Set<Dispatcher>()
  readonly #slots: Slots | undefined
  #closed = false

  constructor(options: PoolOptions) {
    this.#options = options
    const { connections: max, waiting } = options
    if (max !== undefined && waiting !== undefined) {
      this.#slots = new Slots({ max, maxWaiting: waiting.max, waitMs: waiting.ms })
    }
  }

  /**
   * Redirects are not followed and bodies not decoded.
   *
   * @throws RegistryError Unavailable if every connection stayed taken; any Error if the exchange failed, or a certificate
   *   cannot be read
   */
  async send(to: Destination, request: OutgoingRequest): Promise<Answer> {
    const { totalMs } = this.#options
    const client = loaded ?? (await library())
    const release = (await this.#slots?.acquire(request.signal)) ?? (() => undefined)
    try {
      const deadline = totalMs === undefined ? undefined : AbortSignal.timeout(totalMs)
      const signal = eitherOf(request.signal, deadline)
      const { statusCode, statusText, headers, body } = await this.#dispatcher(to, client).request({
        origin: to.origin,
        method: request.method,
        path: request.path,
        headers: request.headers ?? {},
        ...(request.body !== undefined && { body: request.body }),
        ...(signal !== undefined && { signal }),
        ...(request.idleMs !== undefined && { bodyTimeout: request.idleMs }),
        ...(request.headersMs !== undefined && { headersTimeout: request.headersMs }),
        ...(request.highWaterMark !== undefined && { highWaterMark: request.highWaterMark }),
      })
      body.on('error', () => undefined).once('close', release)
      const header = (name: string) => [headers[name] ?? []].flat()[0]
      return { status: statusCode, statusText, headers, header, body }
    } catch (thrown) {
      release()
      throw thrown
    }
  }

  /** Aborts running exchanges. */
  async close(): Promise<void> {
    this.#closed = true
    const current = Array.from(this.#routes.values(), ({ dispatcher }) => dispatcher)
    await Promise.all([...current, ...this.#retired].map((dispatcher) => dispatcher.destroy()))
  }

  /** Replaced when trust has changed; running exchanges end on their old connections. */
  #dispatcher({ origin, trust, proxyUrl }: Destination, client: Library): Dispatcher {
    if (this.#closed) throw new Error('these connections were closed')
    const proxy = proxyUrl ?? this.#options.proxies?.proxyFor(origin)
    const key = proxy ?? ''
    const known = this.#routes.get(key)
    if (known !== undefined && isDeepStrictEqual(known.trust, trust)) return known.dispatcher
    const dispatcher = this.#open(trust, proxy, client)
    this.#routes.set(key, { dispatcher, trust })
    return dispatcher
  }

  /** Lets running exchanges end. */
  #retire(dispatcher: Dispatcher): void {
    this.#retired.add(dispatcher)
    const forget = () => this.#retired.delete(dispatcher)
    void dispatcher.close().then(forget, forget)
  }

  #open(trust: Trust | undefined, proxy: string | undefined, client: Library): Dispatcher {
    const { connections, connectMs, headersMs, idleMs, keepAliveMs } = this.#options
    const shared = {
      allowH2: false,
      headersTimeout: headersMs,
      bodyTimeout: idleMs,
      maxResponseSize: -1,
      ...(connections !== undefined && { connections }),
      ...(keepAliveMs !== undefined && { keepAliveTimeout: keepAliveMs }),
    }
    const connect = { timeout: connectMs, keepAlive: true, keepAliveInitialDelay: 30_000 }
    const tls = trust && tlsOf(trust)
    if (proxy === undefined) {
      const { addresses } = this.#options
      const direct = { ...connect, ...tls }
      const connector =
        addresses === undefined
          ? client.buildConnector(direct)
          : checked(client.buildConnector(lookedUp(direct, addresses)), addresses)
      return new client.Agent({ ...shared, connect: toDestination(connector, trust?.servername) })
    }
    return new client.ProxyAgent({
      ...shared,
      uri: proxy,
      connectTimeout: connectMs,
      requestTls: tls ?? {},
    })
  }
}

type Addresses = NonNullable<PoolOptions['addresses']>

/** Connects to approved addresses only: a second lookup of the name might find others. */
function lookedUp(
  options: buildConnector.BuildOptions,
  addresses: Addresses,
): buildConnector.BuildOptions {
  const find = callbackify(addresses)
  const lookup: LookupFunction = (hostname, { all }, done) => {
    find(hostname, (error, found) => {
      const [first] = found ?? []
      if (error !== null) done(error, '')
      else if (first === undefined) done(new Error('the host has no address'), '')
      else if (all === true) done(null, [...found])
      else done(null, first.address, first.family)
    })
  }
  return { ...options, lookup }
}

/** Node does not look up hosts that are addresses, so these are approved before connecting. */
function checked(
  connect: buildConnector.connector,
  addresses: Addresses,
): buildConnector.connector {
  const find = callbackify(addresses)
  return (to, done) => {
    const host = hostOf(to)
    if (isIP(host) === 0) {
      connect(to, done)
      return
    }
    find(host, (error) => {
      if (error === null) connect(to, done)
      else done(error, null)
    })
  }
}

/** The client would expect a certificate for the Host header, which a reverse proxy takes from its caller. */
function toDestination(
  connect: buildConnector.connector,
  servername: string | undefined,
): buildConnector.connector {
  return (to, done) => {
    const name = isIP(hostOf(to)) === 0 ? to.hostname : ''
    connect({ ...to, servername: servername ?? name }, done)
  }
}

function hostOf({ hostname }: buildConnector.Options): string {
  return hostname.replace(/^\[|\]$/g, '')
}

function tlsOf({ servername, rejectUnauthorized, alternativeName, ...context }: Trust) {
  return {
    secureContext: createSecureContext(context),
    ...(alternativeName !== undefined && {
      checkServerIdentity: (host: string, certificate: PeerCertificate) => {
        const error = checkServerIdentity(host, certificate)
        return error && checkServerIdentity(alternativeName, certificate) && error
      },
    }),
    ...(servername !== undefined && { servername }),
    ...(rejectUnauthorized !== undefined && { rejectUnauthorized }),
    allowH2: false,
  }
}

function eitherOf(one?: AbortSignal, other?: AbortSignal): AbortSignal | undefined {
  return one !== undefined && other !== undefined ? AbortSignal.any([one, other]) : (one ?? other)
}
