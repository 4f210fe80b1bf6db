import { randomBytes } from 'node:crypto'
import {
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { Socket } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { RegistryError } from '../errors/errors.ts'
import { isPlain, sendRaw } from '../fast/fast.ts'
import { CappedMap } from '../memory/memory.ts'
import type { Logger, Metrics, RequestFacts } from '../telemetry/telemetry.ts'
import type { Fetch } from './env.ts'
import { errorResponse } from './error-response.ts'
import type { ReadyAnswer } from './ready-answer.ts'
import {
  type AccessLog,
  accessLog,
  type OnRequest,
  observed,
  RequestMetrics,
} from './request-reports.ts'

export interface ListenerOptions {
  readonly fetch: Fetch
  /** Asked before `fetch`. Default: nothing is ready. */
  readonly hot?: Hot | undefined
  readonly scheme: 'http' | 'https'
  readonly log: Logger
  readonly metrics: Metrics
  /** Called with every request when it is over, in addition to the access log. */
  readonly onRequest?: OnRequest | undefined
  /** Lifetime of idle connections that clients are told, in milliseconds. */
  readonly keepAliveMs: number
  /** Called with each request that may have a body. */
  readonly limitBody: (request: IncomingMessage) => void
  /** Becomes true when the server is about to stop: answers then ask the client to close the connection. */
  readonly draining: { readonly isOn: boolean }
}

/** For all requests. */
interface Shared {
  readonly metrics: RequestMetrics
  readonly logRequest: AccessLog
}

/** A request that is not answered yet. */
interface Running {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  /** On the clock of `performance.now()`. */
  readonly start: number
  readonly facts: RequestFacts
  /** When the headers of the answer were ready. */
  firstByteAt: number | undefined
}

const badRequest = new RegistryError(
  'BadRequest',
  'the request line or the Host header is malformed',
)

/** Refuses repeated Host headers (RFC 9112, section 3.2): a proxy may have read another one of them. */
const severalHosts = new RegistryError(
  'BadRequest',
  'the request has more than one Host header: send one',
)

type Listener = (request: IncomingMessage, response: ServerResponse) => void

/** The request listener of the public port: ready answers are sent at once, and the app answers everything else. */
export function createListener(options: ListenerOptions): Listener {
  const { hot, scheme, draining, limitBody } = options
  const shared = {
    metrics: new RequestMetrics(options.metrics),
    logRequest: observed(accessLog(options.log), options.onRequest),
  }
  const requestIdOf = createRequestIds()
  const read = createPlainReader(scheme)
  const askApp = createAppAnswers(options.fetch)
  const sendReady = isPlain() ? undefined : createRawAnswers(options.keepAliveMs, shared)
  return (request, response) => {
    const start = performance.now()
    const requestId = requestIdOf(textOf(request.headers['x-request-id']))
    // How a connection is closed after an answer is left to Node.
    const mayBeReady = hot !== undefined && response.shouldKeepAlive && !draining.isOn
    const plain = mayBeReady ? read(request) : undefined
    const answer = plain && hot?.(plain)
    const facts = plain !== undefined && answer !== undefined ? plain.facts : {}
    const running = { request, response, requestId, start, facts, firstByteAt: undefined }
    if (plain !== undefined && answer !== undefined && sendReady !== undefined) {
      sendReady(running, plain, answer)
      return
    }
    if (draining.isOn) response.setHeader('Connection', 'close')
    follow(running, shared)
    if (plain !== undefined && answer !== undefined) sendPlain(running, plain, answer)
    else {
      limitBody(request)
      askApp(running)
    }
    shared.metrics.started(running.facts.route ?? 'none')
  }
}

/** Sends ready answers without Node's own heads, and logs at once, because the kernel has the answer by then. */
function createRawAnswers(keepAliveMs: number, { metrics, logRequest }: Shared) {
  const endOfHead = createHeadEnds(keepAliveMs)
  return (running: Running, plain: PlainRequest, answer: ReadyAnswer): void => {
    const isKnown = plain.ifNoneMatch !== undefined && answer.isKnownBy(plain.ifNoneMatch)
    const status = isKnown ? 304 : 200
    const { response, requestId, start } = running
    const head = `${statusLines[status]}${requestId}\r\nX-Content-Type-Options: nosniff\r\n${answer.headerLines(isKnown)}${endOfHead()}`
    response.statusCode = status
    sendRaw(response, head, isKnown ? undefined : answer.sendable)
    const durationMs = performance.now() - start
    const bytes = head.length + (isKnown ? 0 : answer.sendable.length)
    metrics.answered(answer.facts.route, status, durationMs, bytes)
    logRequest(loggedOf(running, { status, durationMs, bytes, isAborted: false }), answer)
  }
}

const statusLine = (status: 200 | 304): string =>
  `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nX-Request-Id: `
const statusLines = { 200: statusLine(200), 304: statusLine(304) }

/** Returns the end of a head, with the date of RFC 9110 (section 5.6.7), which is formatted once a second. */
function createHeadEnds(keepAliveMs: number): () => string {
  const connection = `Connection: keep-alive\r\nKeep-Alive: timeout=${Math.floor(keepAliveMs / 1000)}\r\n`
  let end: string | undefined
  return () => {
    if (end !== undefined) return end
    const now = new Date()
    setTimeout(() => {
      end = undefined
    }, 1000 - now.getUTCMilliseconds()).unref()
    end = `Date: ${now.toUTCString()}\r\n${connection}\r\n`
    return end
  }
}

/** Sends a ready answer through Node's documented functions. */
function sendPlain({ response, facts }: Running, plain: PlainRequest, answer: ReadyAnswer): void {
  const isKnown = answer.isKnownBy(plain.ifNoneMatch)
  Object.assign(facts, { ...answer.facts, ...facts })
  response.writeHead(isKnown ? 304 : 200, answer.headers(isKnown))
  response.end(isKnown ? undefined : answer.body)
}

/** Lets the app answer requests. */
function createAppAnswers(fetch: Fetch): (running: Running) => void {
  /** The request that the adapter is passing on: it calls the app before it returns. */
  let current: Running
  const answer = getRequestListener(
    (asked) => {
      const running = current
      const { request: incoming, response: outgoing, facts } = running
      const answered = (response: Response): Response => {
        running.firstByteAt = performance.now()
        // The adapter leaves the reason phrase out.
        if (response.status >= 400) outgoing.statusMessage = response.statusText
        return response
      }
      if (hasSeveralHosts(incoming)) return answered(errorResponse(severalHosts))
      const result = fetch(asked, { incoming, outgoing, facts })
      return result instanceof Promise ? result.then(answered) : answered(result)
    },
    { errorHandler: () => errorResponse(badRequest) },
  )
  return (running) => {
    current = running
    void answer(running.request, running.response)
  }
}

/** Writes log and metrics when the response is over, complete or not. */
function follow(running: Running, { metrics, logRequest }: Shared): void {
  const { request, response, requestId, start, facts } = running
  response.setHeader('X-Request-Id', requestId)
  response.setHeader('X-Content-Type-Options', 'nosniff')
  const sentBytes = countSentBytes(response)
  const { remoteAddress } = request.socket
  response.on('close', () => {
    const end = performance.now()
    const bytes = sentBytes()
    const { statusCode: status } = response
    metrics.closed({
      method: request.method ?? '',
      route: facts.route ?? 'none',
      code: status,
      firstByteMs: (running.firstByteAt ?? end) - start,
      bytes,
    })
    const isAborted = !response.writableFinished
    const logged = loggedOf(running, { status, durationMs: end - start, bytes, isAborted })
    logRequest({ ...logged, remoteAddress })
  })
}

function loggedOf(
  { request: { method = '', url = '', headers, socket }, requestId, facts }: Running,
  outcome: Readonly<Record<'status' | 'durationMs' | 'bytes', number>> & {
    readonly isAborted: boolean
  },
) {
  return {
    ...outcome,
    method,
    url,
    requestId,
    userAgent: headers['user-agent'],
    terraformVersion: textOf(headers['x-terraform-version']),
    traceparent: textOf(headers['traceparent']),
    remoteAddress: socket.remoteAddress,
    facts,
  }
}

/** `headers` of Node has only the first. */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  return rawHeaders.filter((name, index) => index % 2 === 0 && /^host$/i.test(name)).length > 1
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined

/**
 * Counts the bytes of one response, including headers. With pipelining, several responses share a connection. The bytes of a
 * response are those between the moment when it gets the connection and the moment when all of it is sent.
 *
 * @param response nothing of it is sent yet
 * @returns a function to call when the response is over, complete or not
 */
function countSentBytes(response: ServerResponse): () => number {
  let socket: Socket | undefined
  let before = 0
  let after: number | undefined
  const begin = (given: Socket): void => {
    socket = given
    before = given.bytesWritten
  }
  if (response.socket === null) response.once('socket', begin)
  else begin(response.socket)
  response.once('prefinish', () => {
    after = socket?.bytesWritten
  })
  return () => (after ?? socket?.bytesWritten ?? 0) - before
}

/** A GET without a body, as far as ready answers depend on it. */
export interface PlainRequest {
  /** Path and query as the client sent them. */
  readonly url: string
  /** `http://depot.test:8080`, from the Host header. */
  readonly origin: string
  /** Headers of these names. */
  readonly authorization: string | undefined
  readonly ifNoneMatch: string | undefined
  readonly acceptEncoding: string | undefined
  /** True if a proxy sent `X-Forwarded-Host` or `X-Forwarded-Proto`. */
  readonly isForwarded: boolean
  /** For the access log. */
  readonly facts: RequestFacts
}

/** Finds a ready answer without waiting, or leaves the request to the app. */
export type Hot = (request: PlainRequest) => ReadyAnswer | undefined

/** True if a request has a header that only the app can handle. */
const isForApp = (headers: IncomingHttpHeaders): boolean =>
  headers.range !== undefined ||
  headers['content-length'] !== undefined ||
  headers['transfer-encoding'] !== undefined ||
  headers.expect !== undefined ||
  headers.upgrade !== undefined

/** @returns a function that returns undefined for requests that only the app can judge */
function createPlainReader(scheme: 'http' | 'https') {
  const originOf = createOriginReader(scheme)
  return ({ method, url = '', headers, rawHeaders }: IncomingMessage): PlainRequest | undefined => {
    if (method !== 'GET' || url[0] !== '/') return undefined
    // Otherwise a header was repeated, and Node has dropped or joined it.
    if (Object.keys(headers).length * 2 !== rawHeaders.length) return undefined
    if (isForApp(headers)) return undefined
    const origin = originOf(headers.host)
    if (origin === undefined) return undefined
    return {
      url,
      origin,
      authorization: headers.authorization,
      ifNoneMatch: headers['if-none-match'],
      acceptEncoding: headers['accept-encoding'],
      isForwarded:
        headers['x-forwarded-host'] !== undefined || headers['x-forwarded-proto'] !== undefined,
      facts: {},
    }
  }
}

/** Limit of known hosts: clients use a few, an attacker may use many. */
const maxHosts = 64

/** Remembers valid hosts. */
function createOriginReader(scheme: string): (host: string | undefined) => string | undefined {
  const known = new CappedMap<string, string>(maxHosts)
  return (host = '') => {
    const origin = known.get(host)
    if (origin !== undefined) return origin
    const made = `${scheme}://${host}`
    if (!/^[a-z0-9][a-z0-9.-]*(?::[1-9]\d{0,4})?$/.test(host) || !isOrigin(made)) return undefined
    known.set(host, made)
    return made
  }
}

/** True if the URL is its own origin: `127.1` and `http://host:80` are not. */
const isOrigin = (url: string): boolean => URL.canParse(url) && new URL(url).origin === url

const safeId = /^[\w.:-]{1,64}$/

/**
 * Chooses the id of a request: the client's own if it is harmless, otherwise a new one. New ids have a random prefix that no
 * other process has, and a counter.
 */
export function createRequestIds(): (own: string | undefined) => string {
  const prefix = randomBytes(9).toString('base64url')
  let last = 0
  return (own) => {
    if (own !== undefined && safeId.test(own)) return own
    last += 1
    return `${prefix}-${last}`
  }
}
