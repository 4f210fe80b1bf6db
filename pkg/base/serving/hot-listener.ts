import type { IncomingMessage } from 'node:http'
import type { AccessLog } from './access-log.ts'
import type { Connections } from './connections.ts'
import type { IdentifiedResponse } from './identified-response.ts'
import { createPlainReader, type Hot, type RequestIds } from './plain-request.ts'
import type { RequestMetrics } from './request-metrics.ts'

export interface HotListenerOptions {
  readonly hot: Hot
  readonly scheme: 'http' | 'https'
  readonly requestIds: RequestIds
  readonly logRequest: AccessLog
  readonly metrics: RequestMetrics
  readonly connections: Connections
  /** A server that is about to stop leaves every answer to `otherwise`, which asks the client to close the connection. */
  readonly draining: { readonly isOn: boolean }
  /** Takes the requests for which nothing is ready, as they came. */
  readonly otherwise: (request: IncomingMessage, response: IdentifiedResponse) => void
}

/**
 * Answers what is ready before the app sees it: one lookup, one write, and the line of the log at once, as the answer is
 * in the hands of the kernel by then.
 */
export function createHotListener(options: HotListenerOptions) {
  const { hot, requestIds, logRequest, metrics, connections, draining, otherwise } = options
  const read = createPlainReader(options.scheme)
  return (request: IncomingMessage, response: IdentifiedResponse): void => {
    const start = performance.now()
    // How a connection is closed after an answer is left to Node.
    const plain = response.shouldKeepAlive && !draining.isOn ? read(request) : undefined
    const answer = plain && hot(plain)
    if (plain === undefined || answer === undefined) return otherwise(request, response)
    const requestId = requestIds.bytesOf(plain.requestId)
    const isKnown = plain.ifNoneMatch !== undefined && answer.isKnownBy(plain.ifNoneMatch)
    const status = isKnown ? 304 : 200
    const bytes = response.sendReady(requestId, answer, isKnown)
    const durationMs = performance.now() - start
    const { socket } = request
    // Most answers are in the hands of the kernel by now, and a timer for each would cost as much as the lookup.
    if (!response.isTaken) response.once('close', connections.hold(socket))
    metrics.answered(answer.facts.route, status, durationMs, bytes)
    logRequest(
      {
        method: 'GET',
        url: plain.url,
        status,
        requestId,
        durationMs,
        bytes,
        isAborted: false,
        userAgent: plain.userAgent,
        terraformVersion: plain.terraformVersion,
        traceparent: plain.traceparent,
        remoteAddress: socket.remoteAddress,
        facts: plain.facts,
      },
      answer,
    )
  }
}
