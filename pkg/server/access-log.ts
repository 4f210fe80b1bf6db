import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Logger, RequestFacts } from '../telemetry/telemetry.ts'

const safeRequestId = /^[\w.:-]{1,64}$/

/** The client's own id of a request where it is harmless, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const own = request.headers['x-request-id']
  return typeof own === 'string' && safeRequestId.test(own) ? own : randomUUID()
}

export interface LoggedRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly requestId: string
  readonly facts: RequestFacts
  readonly durationMs: number
  readonly bytes: number
}

/** Writes the one line that every request gets when its answer is over. */
export function logRequest(log: Logger, entry: LoggedRequest): void {
  const { request, response, requestId, facts, durationMs, bytes } = entry
  const { route, ...subject } = facts
  const terraformVersion = terraformVersionOf(request)
  log.info(
    {
      requestId,
      method: request.method,
      route,
      path: pathOf(request.url ?? ''),
      status: response.statusCode,
      durationMs: Math.round(durationMs * 1000) / 1000,
      bytes,
      ...(response.writableFinished ? undefined : { aborted: true }),
      ...(terraformVersion === undefined ? undefined : { terraformVersion }),
      remoteAddr: request.socket.remoteAddress,
      ...subject,
    },
    'request',
  )
}

/** Without the query, which may hold what is nobody's business; a log line need not be longer than this. */
function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, 1024)
}

/** Terraform and OpenTofu say who they are in one of these. */
function terraformVersionOf(request: IncomingMessage): string | undefined {
  const header = request.headers['x-terraform-version']
  if (typeof header === 'string') return header.slice(0, 32)
  return /(?:Terraform|OpenTofu)\/([\w.+-]{1,32})/.exec(request.headers['user-agent'] ?? '')?.[1]
}
