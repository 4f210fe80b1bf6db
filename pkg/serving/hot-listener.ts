import type { IncomingMessage } from 'node:http'
import type { AccessLog } from './access-log.ts'
import type { IdentifiedResponse } from './identified-response.ts'
import { createPlainReader, type Hot } from './plain-request.ts'
import type { RequestMetrics } from './request-metrics.ts'

export interface HotListenerOptions {
  readonly hot: Hot
  readonly scheme: 'http' | 'https'
  readonly requestIdOf: (own: string | undefined) => string
  readonly logRequest: AccessLog
  readonly metrics: RequestMetrics
  /** How long a client may leave an answer unread, in milliseconds. */
  readonly idleMs: number
}

/**
 * Answers what is ready before the app sees it: one lookup, one write, and the line of the log at once, as the answer is
 * in the hands of the kernel by then.
 *
 * @returns a function that says whether it has answered; if not, nothing has happened yet
 */
export function createHotListener(options: HotListenerOptions) {
  const { hot, requestIdOf, logRequest, metrics, idleMs } = options
  const read = createPlainReader(options.scheme)
  return (request: IncomingMessage, response: IdentifiedResponse): boolean => {
    const start = performance.now()
    // How a connection is closed after an answer is left to Node.
    const plain = response.shouldKeepAlive ? read(request) : undefined
    const answer = plain && hot(plain)
    if (plain === undefined || answer === undefined) return false
    const requestId = requestIdOf(plain.requestId)
    response.requestId = requestId
    const isKnown = plain.ifNoneMatch !== undefined && answer.isKnownBy(plain.ifNoneMatch)
    const status = isKnown ? 304 : 200
    const bytes = response.sendReady(status, answer.head(isKnown), isKnown ? '' : answer.body)
    const durationMs = performance.now() - start
    const { socket } = request
    // Most answers are in the hands of the kernel by now, and a timer for each would cost as much as the lookup.
    const isWaiting = response.socket === null || socket.writableLength > 0
    if (isWaiting) socket.setTimeout(idleMs)
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
    return true
  }
}
