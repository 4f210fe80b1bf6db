import { isPlain } from '../fast/fast.ts'
import {
  eachMillisecond,
  type Logger,
  outputOf,
  type RequestFacts,
} from '../telemetry/telemetry.ts'
import type { ReadyAnswer } from './ready-answer.ts'

/** The content of a line. */
export interface LoggedRequest {
  readonly method: string
  readonly url: string
  readonly status: number
  readonly requestId: string
  readonly durationMs: number
  /** Size of the answer, headers included. */
  readonly bytes: number
  readonly isAborted: boolean
  /** Headers of these names. */
  readonly userAgent: string | undefined
  readonly terraformVersion: string | undefined
  readonly traceparent: string | undefined
  /** Undefined if the connection was cut. */
  readonly remoteAddress: string | undefined
  readonly facts: RequestFacts
}

/** Writes the one line of a request. @param answer the ready one that was sent */
export type AccessLog = (request: LoggedRequest, answer?: ReadyAnswer) => void

/** Called with every request when it is over. */
export type OnRequest = (request: LoggedRequest) => void

/** An access log that is read by another part too. */
export function observed(write: AccessLog, onRequest: OnRequest | undefined): AccessLog {
  if (onRequest === undefined) return write
  return (request, answer) => {
    write(request, answer)
    onRequest({ ...request, facts: { ...answer?.facts, ...request.facts } })
  }
}

/**
 * Lines are formatted here and go straight to the output of the logger, because every request has one. If the output is
 * unknown, and in plain mode, the logger writes them.
 */
export function accessLog(log: Logger): AccessLog {
  const bindings = { component: 'http' }
  const output = isPlain() ? undefined : outputOf(log)
  if (output === undefined) {
    // Its own serializer takes what is under `err` for a thrown error.
    const lines = log.child(bindings, { serializers: { err: (refusal: unknown) => refusal } })
    return (request, answer) =>
      lines.info(
        { ...plainFields(request), ...callerFields(request), ...askedFields(request, answer) },
        'request',
      )
  }
  const start = eachMillisecond((time) => `{"level":"info","time":"${time}",${fieldsOf(bindings)},`)
  return (request, answer) => {
    if (!log.isLevelEnabled('info')) return
    const asked =
      answer === undefined ? fieldsOf(askedFields(request)) : knownFields(request, answer)
    const caller = fieldsOf(callerFields(request))
    const { requestId, durationMs, bytes } = plainFields(request)
    output.write(
      `${start()}"requestId":"${requestId}","durationMs":${durationMs},"bytes":${bytes},${caller}${caller && ','}${asked},"msg":"request"}\n`,
    )
  }
}

const fieldsOf = (fields: object): string => JSON.stringify(fields).slice(1, -1)

/** The fields that differ between any two requests; none has a character that JSON escapes. */
const plainFields = ({ requestId, durationMs, bytes }: LoggedRequest) => ({
  requestId,
  durationMs: Math.round(durationMs * 1000) / 1000,
  bytes,
})

/** The fields of the caller, and of a failure. */
function callerFields(request: LoggedRequest) {
  const { traceparent, facts } = request
  const { refusal } = facts
  return {
    aborted: request.isAborted || undefined,
    traceparent:
      traceparent !== undefined && isTraceparent.test(traceparent) ? traceparent : undefined,
    terraformVersion: terraformVersionOf(request),
    remoteAddr: request.remoteAddress,
    mode: facts.mode,
    callerHash: facts.callerHash,
    view: cut(facts.view),
    err: refusal && { ...refusal, message: refusal.message.slice(0, longestMessage) },
  }
}

/** The fields of the endpoint and the resource. */
function askedFields({ method, url, status, facts }: LoggedRequest, answer?: ReadyAnswer) {
  const { route, namespace, kind, name, version } = answer?.facts ?? facts
  return {
    method,
    path: pathOf(url),
    status,
    route: cut(route),
    namespace: cut(namespace),
    kind,
    name: cut(name),
    version: cut(version),
  }
}

/** The same fields for a ready answer; most have one URL. */
function knownFields(request: LoggedRequest, answer: ReadyAnswer): string {
  const { url, status } = request
  const { logged } = answer
  if (logged?.url === url && logged.status === status) return logged.fields
  const fields = fieldsOf(askedFields(request, answer))
  if (url.length <= longestKeptUrl) answer.logged = { url, status, fields }
  return fields
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const isTraceparent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** Maximum length of a field, because clients choose the text. */
const longestField = 256
/** Maximum length of a URL whose fields are cached, because cached answers are counted by their size. */
const longestKeptUrl = 1024
const longestMessage = 1024

const cut = (text: string | undefined): string | undefined =>
  text === undefined || text.length <= longestField ? text : text.slice(0, longestField)

/** Without the query, which may hold secrets, and cut to a length for a log line. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, 1024)
}

/** Headers in which Terraform and OpenTofu name themselves. */
function terraformVersionOf({ terraformVersion, userAgent }: LoggedRequest): string | undefined {
  if (terraformVersion !== undefined) return terraformVersion.slice(0, 32)
  if (userAgent === undefined) return undefined
  return /(?:Terraform|OpenTofu)\/([\w.+-]{1,32})/.exec(userAgent)?.[1]
}
