import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Logger, lineWriter, type RequestFacts } from '../telemetry/telemetry.ts'

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
  /** Read when the request came: a connection that broke has none. */
  readonly remoteAddress: string | undefined
  readonly facts: RequestFacts
  readonly durationMs: number
  readonly bytes: number
}

/** Makes what writes the one line that every request gets when its answer is over. */
export function accessLog(log: Logger): (entry: LoggedRequest) => void {
  const write = lineWriter(log, 'request')
  return (entry) => write(fieldsOf(entry))
}

/** As JSON. What is not quoted by `JSON.stringify` comes from us, or has been checked to need no escape. */
function fieldsOf(entry: LoggedRequest): string {
  const { request, response, requestId, remoteAddress, facts, durationMs, bytes } = entry
  const { route, namespace, kind, name, version, mode, callerHash, view } = facts
  const terraformVersion = terraformVersionOf(request)
  let fields = `"requestId":"${requestId}","method":"${request.method}"`
  if (route !== undefined) fields += `,"route":"${route}"`
  fields += `,"path":${JSON.stringify(pathOf(request.url ?? ''))},"status":${response.statusCode}`
  fields += `,"durationMs":${Math.round(durationMs * 1000) / 1000},"bytes":${bytes}`
  if (!response.writableFinished) fields += ',"aborted":true'
  if (terraformVersion !== undefined) fields += field('terraformVersion', terraformVersion)
  if (remoteAddress !== undefined) fields += `,"remoteAddr":"${remoteAddress}"`
  if (namespace !== undefined) fields += field('namespace', namespace)
  if (kind !== undefined) fields += `,"kind":"${kind}"`
  if (name !== undefined) fields += field('name', name)
  if (version !== undefined) fields += field('version', version)
  if (mode !== undefined) fields += `,"mode":"${mode}"`
  if (callerHash !== undefined) fields += `,"callerHash":"${callerHash}"`
  if (view !== undefined) fields += field('view', view)
  return fields
}

/** What a client wrote may be as long as it likes; a log line may not. */
const longestField = 256

const field = (key: string, value: string): string =>
  `,"${key}":${JSON.stringify(value.slice(0, longestField))}`

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
