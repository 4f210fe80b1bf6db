import {
  counter,
  gauge,
  type Metrics,
  requestDurationBuckets,
  type Series,
  seriesHistogram,
} from '../telemetry/telemetry.ts'

const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Kept in plain numbers, because every request changes them, and handed over at a scrape. */
interface RouteTotals {
  inFlight: number
  unreportedBytes: number
  /** By method and status. */
  readonly durations: Map<string, Series>
}

/** Metrics of the public port, by the pattern of the route. */
export class RequestMetrics {
  readonly #routes = new Map<string, RouteTotals>()
  readonly #durationOf

  constructor(metrics: Metrics) {
    this.#durationOf = seriesHistogram(
      metrics,
      {
        name: 'http_request_duration_seconds',
        help: 'Time from a request to the first byte of its answer.',
        labels: ['method', 'route', 'code'],
      },
      requestDurationBuckets,
    )
    gauge(
      metrics,
      {
        name: 'http_requests_in_flight',
        help: 'Requests whose answer is not over.',
        labels: ['route'],
      },
      (inFlight) => {
        for (const [route, totals] of this.#routes) inFlight.set({ route }, totals.inFlight)
      },
    )
    counter(
      metrics,
      {
        name: 'http_response_bytes_total',
        help: 'Bytes sent, headers included.',
        labels: ['route'],
      },
      (bytes) => {
        for (const [route, totals] of this.#routes) {
          bytes.inc({ route }, totals.unreportedBytes)
          totals.unreportedBytes = 0
        }
      },
    )
  }

  /** A request has found its route. */
  started(route: string): void {
    this.#totals(route).inFlight += 1
  }

  /** A GET was answered at once. */
  answered(route: string, code: number, durationMs: number, bytes: number): void {
    const totals = this.#totals(route)
    totals.unreportedBytes += bytes
    this.#series(totals, route, 'GET', code).observe(durationMs / 1000)
  }

  /** The answer is over, whole or not. */
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
    this.#series(totals, route, methods.has(method) ? method : 'other', code).observe(
      firstByteMs / 1000,
    )
  }

  #series({ durations }: RouteTotals, route: string, method: string, code: number): Series {
    const key = `${method} ${code}`
    const known = durations.get(key)
    if (known !== undefined) return known
    const series = this.#durationOf({ method, route, code })
    durations.set(key, series)
    return series
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
