import {
  type IncomingMessage,
  type OutgoingHttpHeader,
  type OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { RegistryError } from '../errors/errors.ts'
import type { Logger, Metrics, RequestFacts } from '../telemetry/telemetry.ts'
import { accessLog, requestIdOf } from './access-log.ts'
import type { Fetch } from './env.ts'
import { errorResponse } from './error-response.ts'
import { RequestMetrics } from './request-metrics.ts'

export interface ListenerOptions {
  readonly fetch: Fetch
  readonly log: Logger
  readonly metrics: Metrics
  /** Whether the server is about to stop: answers then ask the client to close the connection. */
  readonly draining: () => boolean
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

/**
 * Sends the id of its request along. `setHeader` would do too, but then Node puts all headers together once more, which
 * costs as much as finding the answer.
 */
export class IdentifiedResponse<
  R extends IncomingMessage = IncomingMessage,
> extends ServerResponse<R> {
  requestId = ''

  override writeHead(
    status: number,
    reason?: string | OutgoingHttpHeaders | OutgoingHttpHeader[],
    headers?: OutgoingHttpHeaders | OutgoingHttpHeader[],
  ): this {
    if (typeof reason === 'string')
      return super.writeHead(status, reason, this.#identified(headers))
    return super.writeHead(status, this.#identified(reason ?? headers))
  }

  #identified(headers?: OutgoingHttpHeaders | OutgoingHttpHeader[]) {
    if (Array.isArray(headers)) return ['X-Request-Id', this.requestId, ...headers]
    return { 'X-Request-Id': this.requestId, ...headers }
  }
}

/** The request listener of the public port: the app, with a log line and metrics around each request. */
export function createListener(options: ListenerOptions) {
  const { log, draining } = options
  const requestMetrics = new RequestMetrics(options.metrics)
  const logRequest = accessLog(log)
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
      const result = options.fetch(request, { incoming, outgoing, facts: running.facts })
      return result instanceof Promise ? result.then(answered) : answered(result)
    },
    { errorHandler: () => errorResponse(badRequest) },
  )

  return (request: IncomingMessage, response: IdentifiedResponse): void => {
    const start = performance.now()
    const { bytesWritten: sentBefore, remoteAddress } = request.socket
    const requestId = requestIdOf(request)
    const running: Running = { facts: {}, firstByteAt: undefined }
    const { facts } = running
    response.requestId = requestId
    if (draining()) response.setHeader('Connection', 'close')

    response.on('close', () => {
      const end = performance.now()
      const bytes = request.socket.bytesWritten - sentBefore
      requestMetrics.closed({
        method: request.method ?? '',
        route: facts.route ?? 'none',
        code: response.statusCode,
        firstByteMs: (running.firstByteAt ?? end) - start,
        bytes,
      })
      logRequest({
        request,
        response,
        requestId,
        remoteAddress,
        facts,
        durationMs: end - start,
        bytes,
      })
    })
    current = running
    void answer(request, response)
    requestMetrics.started(facts.route ?? 'none')
  }
}
