import type { Metric } from 'prom-client'
import { isPlain } from '../fast/fast.ts'
import {
  counter,
  eachMillisecond,
  gauge,
  type Logger,
  type Metrics,
  outputOf,
  type RequestFacts,
  requestDurationBuckets,
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

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

interface Labels {
  readonly method: string
  readonly route: string
  readonly code: number
}

/** The durations of the requests with some labels. */
interface Series {
  readonly labels: Labels
  /** Count of each bucket, not cumulative; the last one is for values above all bounds. */
  readonly counts: number[]
  sum: number
}

/** Plain numbers, because every request changes them; a scrape reads them. */
interface RouteTotals {
  inFlight: number
  unreportedBytes: number
  /** By method and status. */
  readonly durations: Map<string, Series>
}

/** Metrics of the public port, by the pattern of the route. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteTotals>()

  constructor(metrics: Metrics) {
    const histogram = {
      name: 'depot_http_request_duration_seconds',
      help: 'Time from a request to the first byte of its answer.',
      type: 'histogram',
    }
    const get = () => ({ ...histogram, values: [...this.#samples(histogram.name)] })
    // The registry uses only these fields; its type asks for more.
    metrics.registerMetric({ ...histogram, get } as unknown as Metric)
    gauge(metrics, {
      name: 'http_requests_in_flight',
      help: 'Requests whose answer is not over.',
      labels: ['route'],
      collect: (inFlight) => {
        for (const [route, totals] of this.#routes) inFlight.set({ route }, totals.inFlight)
      },
    })
    counter(metrics, {
      name: 'http_response_bytes_total',
      help: 'Bytes sent, headers included.',
      labels: ['route'],
      collect: (bytes) => {
        for (const [route, totals] of this.#routes) {
          bytes.inc({ route }, totals.unreportedBytes)
          totals.unreportedBytes = 0
        }
      },
    })
  }

  /** Counts a request that has found its route. */
  started(route: string): void {
    this.#totals(route).inFlight += 1
  }

  /** Counts a GET with a ready answer. */
  answered(route: string, code: number, durationMs: number, bytes: number): void {
    const totals = this.#totals(route)
    totals.unreportedBytes += bytes
    observe(totals, { method: 'GET', route, code }, durationMs / 1000)
  }

  /** Counts an answer that is over, complete or not. */
  closed(entry: {
    readonly method: string
    readonly route: string
    readonly code: number
    readonly firstByteMs: number
    readonly bytes: number
  }): void {
    const { method, route, code, firstByteMs, bytes } = entry
    const totals = this.#totals(route)
    totals.inFlight -= 1
    totals.unreportedBytes += bytes
    const known = methods.has(method) ? method : 'other'
    observe(totals, { method: known, route, code }, firstByteMs / 1000)
  }

  *#samples(name: string): Iterable<object> {
    for (const { durations } of this.#routes.values()) {
      for (const series of durations.values()) yield* samplesOf(series, name)
    }
  }

  #totals(route: string): RouteTotals {
    let totals = this.#routes.get(route)
    if (totals === undefined) {
      totals = { inFlight: 0, unreportedBytes: 0, durations: new Map() }
      this.#routes.set(route, totals)
    }
    return totals
  }
}

function observe({ durations }: RouteTotals, labels: Labels, seconds: number): void {
  const key = `${labels.method} ${labels.code}`
  let series = durations.get(key)
  if (series === undefined) {
    series = { labels, counts: [...requestDurationBuckets, 0].fill(0), sum: 0 }
    durations.set(key, series)
  }
  let bucket = 0
  while (seconds > (requestDurationBuckets[bucket] ?? seconds)) bucket += 1
  series.counts[bucket] = (series.counts[bucket] as number) + 1
  series.sum += seconds
}

/** The samples in the format of Prometheus. */
function* samplesOf({ labels, counts, sum }: Series, name: string) {
  let count = 0
  for (const [bucket, own] of counts.entries()) {
    count += own
    const le = requestDurationBuckets[bucket] ?? '+Inf'
    yield { labels: { le, ...labels }, value: count, metricName: `${name}_bucket` }
  }
  yield { labels, value: sum, metricName: `${name}_sum` }
  yield { labels, value: count, metricName: `${name}_count` }
}
