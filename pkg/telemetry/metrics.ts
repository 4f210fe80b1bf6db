import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Where every metric of a process is registered; `metrics()` renders them for Prometheus. */
export type Metrics = Registry

/** A registry with the `process_*` and `nodejs_*` metrics, event-loop delay included. */
export function createMetrics(): Metrics {
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  return metrics
}

interface Definition<L extends string> {
  /** Without the prefix `depot_`, in base units: `http_request_duration_seconds`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
}

const config = <L extends string>(metrics: Metrics, { name, help, labels }: Definition<L>) => ({
  name: `depot_${name}`,
  help,
  labelNames: labels ?? [],
  registers: [metrics],
})

export function counter<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L>,
): Counter<L> {
  return new Counter(config(metrics, definition))
}

/** @param collect called at each scrape, to set values that are cheaper to read than to keep */
export function gauge<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L>,
  collect?: (gauge: Gauge<L>) => void,
): Gauge<L> {
  return new Gauge({
    ...config(metrics, definition),
    ...(collect && {
      collect() {
        collect(this)
      },
    }),
  })
}

/** @param buckets upper bounds, in the unit of the metric's name */
export function histogram<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L>,
  buckets: readonly number[],
): Histogram<L> {
  return new Histogram({ ...config(metrics, definition), buckets: [...buckets] })
}
