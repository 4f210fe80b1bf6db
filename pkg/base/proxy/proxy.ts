/** A reverse proxy: streams requests to one other server unchanged, and its answers back. */

import { Readable } from 'node:stream'
import { RegistryError } from '../errors/errors.ts'
import {
  type Answer,
  createPool,
  discard,
  isTimeout,
  type OutgoingRequest,
  type Pool,
  type ProxyRules,
  type Trust,
} from '../http/http.ts'
import { type ClientPlace, ClientShares } from './client-shares.ts'
import { forwardedHeaders, returnedHeaders } from './headers.ts'
import { checkPath } from './paths.ts'

export interface ProxyOptions {
  /** The other server: scheme, host and port. */
  readonly to: string
  /** Authorities of its certificate, read for each request. Default: those that this machine trusts. */
  readonly trust?: (() => Trust | undefined) | undefined
  /** Its name in errors, such as `the identity broker`. */
  readonly name: string
  /** Keeps `X-Forwarded-*` of a proxy in front, and appends to them. */
  readonly trustProxy: boolean
  /** The URL by which clients know this server, if it is configured: its scheme and host are passed on. */
  readonly baseUrl?: string | undefined
  readonly maxRequestBytes: number
  /** Default: no bound. */
  readonly maxResponseBytes?: number
  /** Deadline for opening a connection, in milliseconds. Default: 5000, or `timeoutMs` if that is shorter. */
  readonly connectMs?: number
  /** Deadline of the response headers, and maximum pause within a body, in milliseconds. */
  readonly timeoutMs: number
  /** Deadline of a whole exchange, in milliseconds. Default: none. */
  readonly totalMs?: number
  /** Maximum number of running requests. Default: 64. */
  readonly connections?: number
  /** How many of them one client may have. Default: all. */
  readonly perClient?: number
  /** Default: direct. */
  readonly proxies?: ProxyRules | undefined
}

/** The used part of a request; the context of a Hono handler has it. */
export interface Incoming {
  readonly req: {
    readonly raw: Request
    readonly method: string
    readonly url: string
    header(name: string): string | undefined
  }
  readonly env?:
    | {
        readonly incoming?: { readonly socket: Connection } | undefined
      }
    | undefined
}

interface Connection {
  readonly remoteAddress?: string | undefined
  readonly destroy?: () => unknown
}

export interface Forwarding {
  /** Path and query for the other server. Default: those of the client. */
  readonly path?: string
  /** Replacements for headers of the client, by names in lower case; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  /** The body, if it was read before. Default: that of the request, while it arrives. */
  readonly body?: readonly Uint8Array[]
  /** Name of the client whose share this counts against. Default: its address. */
  readonly client?: string
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const
const withoutBody: ReadonlySet<number> = new Set([204, 205, 304])
const longestConnectMs = 5000
const waiting = { max: 256, ms: 5000 }
/** How long a client may read nothing while others wait. */
const stalledMs = 1000

export class ReverseProxy {
  readonly #options: ProxyOptions
  readonly #pool: Pool
  readonly #shares: ClientShares | undefined

  constructor(options: ProxyOptions) {
    this.#options = options
    const { timeoutMs, totalMs, connections = 64, proxies } = options
    const { connectMs = Math.min(longestConnectMs, timeoutMs) } = options
    this.#pool = createPool({
      connections,
      connectMs,
      headersMs: timeoutMs,
      idleMs: timeoutMs,
      ...(totalMs !== undefined && { totalMs }),
      waiting,
      proxies,
    })
    const { perClient } = options
    if (perClient !== undefined) {
      this.#shares = new ClientShares({ max: connections, perClient, waiting, stalledMs })
    }
  }

  /**
   * Passes a request on. Redirects are handed back, and bodies are not decoded.
   *
   * @throws RegistryError MethodNotAllowed, BadRequest for paths that the other server may read differently, TooLarge,
   *   BadGateway and GatewayTimeout if it is unreachable or too slow, Unavailable if too many wait
   */
  async forward(c: Incoming, forwarding: Forwarding = {}): Promise<Response> {
    const {
      to,
      trust,
      name,
      maxRequestBytes,
      maxResponseBytes = Number.POSITIVE_INFINITY,
    } = this.#options
    const { raw } = c.req
    const method = methodOf(c.req.method, name)
    const url = new URL(c.req.url)
    if (Number(c.req.header('content-length') ?? 0) > maxRequestBytes) {
      throw tooLarge(maxRequestBytes)
    }
    const path = forwarding.path ?? url.pathname + url.search
    checkPath(path)
    const bodyless = method === 'GET' || method === 'HEAD' || raw.body === null
    const place = await this.#shares?.enter(forwarding.client ?? this.#clientOf(c), raw.signal)
    const body = bodyless
      ? undefined
      : new RequestBody(forwarding.body ?? raw.body, maxRequestBytes)
    try {
      const answer = await this.#pool.send(
        { origin: to, trust: trust?.() },
        {
          method,
          path,
          headers: this.#headersOf(c, url, forwarding),
          ...(body && { body: body.stream }),
          signal: raw.signal,
        },
      )
      if (place !== undefined) answer.body.once('close', place.leave)
      const socket = c.env?.incoming?.socket
      return respond(answer, method, { maxBytes: maxResponseBytes, socket, place })
    } catch (thrown) {
      place?.leave()
      throw this.#failure(body?.error ?? thrown)
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }

  /** Its address, as the next proxy saw it. */
  #clientOf({ req, env }: Incoming): string {
    const forwarded = this.#options.trustProxy ? req.header('x-forwarded-for') : undefined
    return forwarded?.split(',').at(-1)?.trim() || (env?.incoming?.socket.remoteAddress ?? '')
  }

  #headersOf(c: Incoming, url: URL, { headers = {} }: Forwarding): string[] {
    const { trustProxy, baseUrl } = this.#options
    const known = baseUrl === undefined ? undefined : new URL(baseUrl)
    const passed = forwardedHeaders(c.req.raw.headers, {
      host: known?.host ?? c.req.header('host') ?? url.host,
      protocol: (known ?? url).protocol.slice(0, -1),
      remoteAddress: c.env?.incoming?.socket.remoteAddress,
      trustProxy,
      isCertain: known !== undefined,
    }).filter(([name]) => !Object.hasOwn(headers, name))
    const own = Object.entries(headers).filter((pair): pair is [string, string] => {
      return pair[1] !== undefined
    })
    return [...passed, ...own].flat()
  }

  #failure(thrown: unknown): RegistryError {
    if (thrown instanceof RegistryError) return thrown
    const { name } = this.#options
    return isTimeout(thrown)
      ? new RegistryError('GatewayTimeout', `${name} took too long: try again in a moment`, {
          cause: thrown,
        })
      : new RegistryError('BadGateway', `${name} cannot be reached: try again in a moment`, {
          cause: thrown,
        })
  }
}

/** @throws RegistryError MethodNotAllowed */
function methodOf(method: string, name: string): OutgoingRequest['method'] {
  const known = methods.find((one) => one === method)
  if (known !== undefined) return known
  throw new RegistryError('MethodNotAllowed', `${method} is not passed on to ${name}`)
}

function tooLarge(maxBytes: number): RegistryError {
  return new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
}

function answerTooLarge(maxBytes: number): RegistryError {
  return new RegistryError('BadGateway', `the answer is larger than ${maxBytes} bytes`)
}

/** The body of a request, up to a limit, and the error that ended it. */
class RequestBody {
  readonly stream: Readable
  error: unknown

  constructor(body: AsyncIterable<Uint8Array> | Iterable<Uint8Array> | null, maxBytes: number) {
    const chunks = bounded(body ?? [], maxBytes, tooLarge)
    this.stream = Readable.from(chunks, { objectMode: false })
    this.stream.once('error', (error) => {
      this.error = error
    })
  }
}

async function* bounded(
  body: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  maxBytes: number,
  error: (maxBytes: number) => Error,
): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw error(maxBytes)
    yield chunk
  }
}

/** The receiver of an answer. */
interface Receiver {
  readonly maxBytes: number
  readonly socket: Connection | undefined
  readonly place: ClientPlace | undefined
}

function respond(answer: Answer, method: string, to: Receiver) {
  const { status, statusText, headers, header, body } = answer
  const init = { status, statusText, headers: returnedHeaders(headers) }
  if (method === 'HEAD' || withoutBody.has(status)) {
    discard(body)
    return new Response(null, init)
  }
  if (Number(header('content-length') ?? 0) > to.maxBytes) {
    discard(body)
    throw answerTooLarge(to.maxBytes)
  }
  return new Response(streamOf(body, to), init)
}

/**
 * Passes a body on in pieces, no faster than the client reads it. If it breaks off, the connection to the client is closed,
 * so that the answer does not look complete.
 */
function streamOf(
  body: Readable,
  { maxBytes, socket, place }: Receiver,
): ReadableStream<Uint8Array> {
  const cut = () => void (socket?.destroy === undefined ? discard(body) : socket.destroy())
  const chunks = bounded(body as AsyncIterable<Uint8Array>, maxBytes, answerTooLarge)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        place?.read()
        const next = await chunks.next().catch((error: unknown) => {
          if (socket?.destroy === undefined) throw error
          socket.destroy()
          // The closed connection makes the reader cancel.
          return new Promise<never>(() => undefined)
        })
        if (next.done) controller.close()
        else controller.enqueue(next.value)
        place?.unread(cut)
      },
      cancel: () => discard(body),
    },
    { highWaterMark: 0 },
  )
}
