import type { Metric } from 'prom-client'
import { counter, gauge, type Metrics, requestDurationBuckets } from '../telemetry/telemetry.ts'

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
