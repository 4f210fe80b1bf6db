import { keyOf, LineWriter, type Logger, type RequestFacts } from '../telemetry/telemetry.ts'
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

/** While a request is answered, its id is bytes. */
type Logged = Omit<LoggedRequest, 'requestId'> & { readonly requestId: string | Uint8Array }

/** Writes the one line of a request. @param answer where it was ready: what it tells by itself is put together once */
export type AccessLog = (request: Logged, answer?: ReadyAnswer) => void

/** What is known of a request when it is over. */
export type OnRequest = (request: LoggedRequest) => void

/** An access log that is read by another part too. */
export function observed(write: AccessLog, onRequest: OnRequest | undefined): AccessLog {
  if (onRequest === undefined) return write
  return (request, answer) => {
    write(request, answer)
    const { requestId: id } = request
    const requestId = typeof id === 'string' ? id : Buffer.from(id).toString('latin1')
    const facts = answer === undefined ? request.facts : { ...answer.facts, ...request.facts }
    onRequest({ ...request, requestId, facts })
  }
}

export function accessLog(log: Logger): AccessLog {
  const line = new LineWriter(log, 'request')
  return (request, answer) => {
    if (!line.begin()) return
    putOwnFields(line, request)
    putCallerFields(line, request.facts)
    if (answer === undefined) putSubjectFields(line, request, request.facts)
    else putKnownFields(line, request, answer)
    line.end()
  }
}

const keys = {
  requestId: keyOf('requestId'),
  durationMs: keyOf('durationMs'),
  bytes: keyOf('bytes'),
  aborted: keyOf('aborted'),
  traceparent: keyOf('traceparent'),
  terraformVersion: keyOf('terraformVersion'),
  remoteAddr: keyOf('remoteAddr'),
  method: keyOf('method'),
  path: keyOf('path'),
  status: keyOf('status'),
  err: keyOf('err'),
}

/** What differs between any two requests. */
function putOwnFields(line: LineWriter, request: Logged): void {
  const { requestId, traceparent, remoteAddress } = request
  const terraformVersion = terraformVersionOf(request)
  line.piece(keys.requestId)
  if (typeof requestId === 'string') line.quoted(requestId)
  else line.quotedPiece(requestId)
  line.piece(keys.durationMs)
  line.thousandths(request.durationMs)
  line.piece(keys.bytes)
  line.whole(request.bytes)
  if (request.isAborted) {
    line.piece(keys.aborted)
    line.json(true)
  }
  if (traceparent !== undefined && isTraceparent.test(traceparent)) {
    line.field(keys.traceparent, traceparent)
  }
  if (terraformVersion !== undefined) line.field(keys.terraformVersion, terraformVersion)
  if (remoteAddress !== undefined) line.field(keys.remoteAddr, remoteAddress)
}

const keysOf = (...names: readonly (keyof RequestFacts)[]) => names.map(keyOf)

/** In the order of the texts below. */
const subjectKeys = keysOf('route', 'namespace', 'kind', 'name', 'version')

/** What was asked for and what came of it. */
function putSubjectFields(line: LineWriter, request: Logged, facts: RequestFacts): void {
  line.field(keys.method, request.method)
  line.field(keys.path, pathOf(request.url))
  line.piece(keys.status)
  line.whole(request.status)
  const { route, namespace, kind, name, version } = facts
  putTexts(line, subjectKeys, [route, namespace, kind, name, version])
}

/** The same of an answer that is mostly asked for by one URL. */
function putKnownFields(line: LineWriter, request: Logged, answer: ReadyAnswer): void {
  const { url, status } = request
  const { logged } = answer
  if (logged?.url === url && logged.status === status) return line.piece(logged.fields)
  const begin = line.here()
  putSubjectFields(line, request, answer.facts)
  if (answer.isKept && url.length <= longestKeptUrl) {
    answer.logged = { url, status, fields: line.pieceSince(begin) }
  }
}

/** In the order of the texts below. */
const callerKeys = keysOf('mode', 'callerHash', 'view')

function putCallerFields(line: LineWriter, facts: RequestFacts): void {
  putTexts(line, callerKeys, [facts.mode, facts.callerHash, facts.view])
  if (facts.refusal === undefined) return
  const { reason, message } = facts.refusal
  line.piece(keys.err)
  line.json({ reason, message: message.slice(0, longestMessage) })
}

/**
 * Puts down texts that are there, each behind the key of its place. In a loop because of what it is as machine code: one
 * after the other, fields are kilobytes of it, which the processor fetches again for every request.
 */
function putTexts(
  line: LineWriter,
  wanted: readonly Uint8Array[],
  texts: readonly (string | undefined)[],
): void {
  for (let index = 0; index < texts.length; index += 1) {
    const text = texts[index]
    if (text === undefined) continue
    line.field(
      wanted[index] as Uint8Array,
      text.length > longestField ? text.slice(0, longestField) : text,
    )
  }
}

/** @see https://www.w3.org/TR/trace-context/#traceparent-header */
const isTraceparent = /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}$/

/** What a client wrote may be as long as it likes; a log line may not. */
const longestField = 256
/** What is asked for by longer ones is not kept, because answers are kept by what they take. */
const longestKeptUrl = 1024
const longestMessage = 1024

/** Without the query, which may hold secrets; a log line need not be longer than this. */
export function pathOf(url: string): string {
  const end = url.indexOf('?')
  return (end === -1 ? url : url.slice(0, end)).slice(0, 1024)
}

/** Terraform and OpenTofu say who they are in one of these. */
function terraformVersionOf({ terraformVersion, userAgent }: Logged): string | undefined {
  if (terraformVersion !== undefined) return terraformVersion.slice(0, 32)
  if (userAgent === undefined) return undefined
  return /(?:Terraform|OpenTofu)\/([\w.+-]{1,32})/.exec(userAgent)?.[1]
}
