import type { IncomingMessage, ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RegistryError } from '../errors/errors.ts'
import type { Logger, Metrics, RequestFacts } from '../telemetry/telemetry.ts'
import { type AccessLog, accessLog, type OnRequest, observed } from './access-log.ts'
import type { Connections } from './connections.ts'
import type { Fetch } from './env.ts'
import { errorResponse } from './error-response.ts'
import { createHotListener } from './hot-listener.ts'
import type { IdentifiedResponse } from './identified-response.ts'
import { type Hot, RequestIds } from './plain-request.ts'
import { RequestMetrics } from './request-metrics.ts'
import { countSentBytes } from './sent-bytes.ts'

export interface ListenerOptions {
  readonly fetch: Fetch
  /** Asked before `fetch`. Default: nothing is ready. */
  readonly hot?: Hot | undefined
  readonly scheme: 'http' | 'https'
  readonly log: Logger
  readonly metrics: Metrics
  /** Called with every request when it is over, beside the access log. */
  readonly onRequest?: OnRequest | undefined
  readonly connections: Connections
  /** Becomes true when the server is about to stop: answers then ask the client to close the connection. */
  readonly draining: { readonly isOn: boolean }
}

interface AppListenerOptions extends Pick<ListenerOptions, 'fetch' | 'connections' | 'draining'> {
  readonly metrics: RequestMetrics
  readonly logRequest: AccessLog
  readonly requestIds: RequestIds
}

interface Running {
  readonly facts: RequestFacts
  /** When the headers of the answer were ready, on the clock of `performance.now()`. */
  firstByteAt: number | undefined
}

const badRequest = new RegistryError(
  'BadRequest',
  'the request line or the Host header is malformed',
)

/** RFC 9112, section 3.2: what stands between client and server may have heard another one of them. */
const severalHosts = new RegistryError(
  'BadRequest',
  'the request has more than one Host header: send one',
)

type Listener = (request: IncomingMessage, response: IdentifiedResponse) => void

/** The request listener of the public port: what is ready is sent, and everything else is for the app to answer. */
export function createListener(options: ListenerOptions): Listener {
  const { log, hot } = options
  const shared = {
    ...options,
    metrics: new RequestMetrics(options.metrics),
    logRequest: observed(accessLog(log), options.onRequest),
    requestIds: new RequestIds(),
  }
  const askApp = createAppListener(shared)
  return hot === undefined ? askApp : createHotListener({ ...shared, hot, otherwise: askApp })
}

/** Asks the app, with a log line and metrics around each request. */
function createAppListener(options: AppListenerOptions): Listener {
  const { draining, connections, metrics, logRequest, requestIds } = options
  /** Of the request that is being handed over: the adapter calls the app before it returns. */
  let current: Running = { facts: {}, firstByteAt: undefined }

  const answer = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as { incoming: IncomingMessage; outgoing: ServerResponse }
      const running = current
      const answered = (response: Response): Response => {
        running.firstByteAt = performance.now()
        // The adapter leaves the reason phrase out.
        if (response.status >= 400) outgoing.statusMessage = response.statusText
        return response
      }
      if (hasSeveralHosts(incoming)) return answered(errorResponse(severalHosts))
      const result = options.fetch(request, { incoming, outgoing, facts: running.facts })
      return result instanceof Promise ? result.then(answered) : answered(result)
    },
    { errorHandler: () => errorResponse(badRequest) },
  )

  return (request, response) => {
    const start = performance.now()
    const { remoteAddress } = request.socket
    const release = connections.hold(request.socket)
    const sentBytes = countSentBytes(response)
    const requestId = requestIds.textOf(textOf(request.headers['x-request-id']))
    const running: Running = { facts: {}, firstByteAt: undefined }
    const { facts } = running
    response.requestId = requestId
    if (draining.isOn) response.setHeader('Connection', 'close')

    response.on('close', () => {
      release()
      const end = performance.now()
      const bytes = sentBytes()
      const { method = '', url = '', headers } = request
      const { statusCode: status } = response
      metrics.closed({
        method,
        route: facts.route ?? 'none',
        code: status,
        firstByteMs: (running.firstByteAt ?? end) - start,
        bytes,
      })
      logRequest({
        method,
        url,
        status,
        requestId,
        durationMs: end - start,
        bytes,
        isAborted: !response.writableFinished,
        userAgent: headers['user-agent'],
        terraformVersion: textOf(headers['x-terraform-version']),
        traceparent: textOf(headers['traceparent']),
        remoteAddress,
        facts,
      })
    })
    current = running
    void answer(request, response)
    metrics.started(facts.route ?? 'none')
  }
}

/** Node gives the first alone in `headers`. What has several is no plain request, so it always comes this way. */
function hasSeveralHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts > 1
}

const textOf = (header: string | readonly string[] | undefined): string | undefined =>
  typeof header === 'string' ? header : undefined
