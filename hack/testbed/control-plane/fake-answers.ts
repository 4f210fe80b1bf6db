import type { ServerResponse } from 'node:http'

export function sendStatus(
  response: ServerResponse,
  code: number,
  status: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(code, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify({ kind: 'Status', status: 'Failure', code, ...status }))
}

/** The answer of a server that has not yet seen the requested resourceVersion. */
export function sendTooLarge(response: ServerResponse): void {
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }]
  const message = 'Timeout: Too large resource version'
  sendStatus(response, 504, { reason: 'Timeout', message, details: { causes } })
}

export function eventLine(type: string, object: unknown): string {
  return `${JSON.stringify({ type, object })}\n`
}

export function bookmarkLine(resourceVersion: string, initialEventsEnd: boolean): string {
  const annotations = initialEventsEnd ? { 'k8s.io/initial-events-end': 'true' } : {}
  return eventLine('BOOKMARK', { metadata: { resourceVersion, annotations } })
}
