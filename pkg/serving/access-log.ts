import { flat, type Logger, lineWriter, type RequestFacts } from '../telemetry/telemetry.ts'
import type { ReadyAnswer } from './ready-answer.ts'

/** What every line tells. */
export interface LoggedRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly requestId: string
  readonly durationMs: number
  /** Of the answer, headers included. */
  readonly bytes: number
  readonly isAborted: boolean
  /** Headers of these names. */
  readonly userAgent: string | undefined
  readonly terraformVersion: string | undefined
  readonly traceparent: string | undefined
  /** A connection that broke has none. */
  readonly remoteAddress: string | undefined
  readonly facts: RequestFacts
}

/** Writes the one line of a request. @param answer where it was ready: what it tells by itself is put together once */
export type AccessLog = (request: LoggedRequest, answer?: ReadyAnswer) => void

/** What is known of a request when it is over. */
export type OnRequest = (request: LoggedRequest) => void

/** An access log that is read by another part too. */
export function observed(write: AccessLog, onRequest: OnRequest | undefined): AccessLog {
  if (onRequest === undefined) return write
  return (request, answer) => {
    write(request, answer)
    onRequest(
      answer === undefined ? request : { ...request, facts: { ...answer.facts, ...request.facts } },
    )
  }
}

export function accessLog(log: Logger): AccessLog {
  const write = lineWriter(log, 'request')
  return (request, answer) => {
    const subject = answer === undefined ? subjectFields(request) : knownFields(request, answer)
    write(ownFields(request) + callerFields(request.facts) + subject)
  }
}

/**
 * What differs between any two requests. As JSON: what is not quoted comes from us, or has been checked to need no
 * escape.
 */
function ownFields(request: LoggedRequest): string {
  const { requestId, durationMs, bytes, remoteAddress, traceparent } = request
  const terraformVersion = terraformVersionOf(request)
  let fields = `"requestId":"${requestId}","durationMs":${milliseconds(durationMs)},"bytes":${bytes}`
  if (request.isAborted) fields += ',"aborted":true'
  if (traceparent !== undefined && isTraceparent.test(traceparent)) {
    fields += `,"traceparent":"${traceparent}"`
  }
  if (terraformVersion !== undefined) fields += field('terraformVersion', terraformVersion)
  if (remoteAddress !== undefined) fields += `,"remoteAddr":"${remoteAddress}"`
  return fields
}

/** What was asked for and what came of it. */
function subjectFields({ method, url, status, facts }: LoggedRequest): string {
  const { route, namespace, kind, name, version } = facts
  let fields = `,"method":"${method}","path":${quoted(pathOf(url))},"status":${status}`
  if (route !== undefined) fields += `,"route":"${route}"`
  if (namespace !== undefined) fields += field('namespace', namespace)
  if (kind !== undefined) fields += `,"kind":"${kind}"`
  if (name !== undefined) fields += field('name', name)
  if (version !== undefined) fields += field('version', version)
  return fields
}

/** The same of an answer that is mostly asked for by one URL. */
function knownFields(request: LoggedRequest, answer: ReadyAnswer): string {
  const { url, status } = request
  const { logged, facts, isKept } = answer
  if (!isKept) return subjectFields({ ...request, facts })
  if (logged?.url === url && logged.status === status) return logged.fields
  const fields = flat(subjectFields({ ...request, facts }))
  if (url.length <= longestKeptUrl) answer.logged = { url, status, fields }
  return fields
}

function callerFields({ mode, callerHash, view, refusal }: RequestFacts): string {
  let fields = ''
  if (mode !== undefined) fields += `,"mode":"${mode}"`
  if (callerHash !== undefined) fields += `,"callerHash":"${callerHash}"`
  if (view !== undefined) fields += field('view', view)
  if (refusal !== undefined) {
    const { reason, message } = refusal
    fields += `,"err":${JSON.stringify({ reason, message: message.slice(0, longestMessage) })}`
  }
  return fields
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const isTraceparent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** What a client wrote may be as long as it likes; a log line may not. */
const longestField = 256
/** What is asked for by longer ones is not kept, because answers are kept by what they take. */
const longestKeptUrl = 1024
const longestMessage = 1024

const field = (key: string, value: string): string =>
  `,"${key}":${quoted(value.length > longestField ? value.slice(0, longestField) : value)}`

/** As JSON; most of it needs no escape. */
const quoted = (text: string): string => (isPlain.test(text) ? `"${text}"` : JSON.stringify(text))
const isPlain = /^[\w ./:@+~-]*$/

/** Most answers take less than one: it is cheaper to look up their thousandths than to write a number with a point. */
const thousandths = Array.from({ length: 1000 }, (_, index) => String(index / 1000))

const milliseconds = (duration: number): string | number => {
  const microseconds = Math.round(duration * 1000)
  return thousandths[microseconds] ?? microseconds / 1000
}

/** Without the query, which may hold secrets; a log line need not be longer than this. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, 1024)
}

/** Terraform and OpenTofu say who they are in one of these. */
function terraformVersionOf({ terraformVersion, userAgent }: LoggedRequest): string | undefined {
  if (terraformVersion !== undefined) return terraformVersion.slice(0, 32)
  if (userAgent === undefined) return undefined
  return /(?:Terraform|OpenTofu)\/([\w.+-]{1,32})/.exec(userAgent)?.[1]
}
