import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'

/** Where every metric of a process is registered; `metrics()` renders them for Prometheus. */
export type Metrics = Registry

/** A registry with `depot_build_info` and the `process_*` and `nodejs_*` metrics, event-loop delay included. */
export function createMetrics(build: { version: string; revision?: string }): Metrics {
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  gauge(metrics, {
    name: 'build_info',
    help: 'What is running; always 1.',
    labels: ['version', 'revision'],
  }).set({ version: build.version, revision: build.revision ?? 'unknown' }, 1)
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

/** @param collect called at each scrape, to add what is cheaper to keep elsewhere until then */
export function counter<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L>,
  collect?: (counter: Counter<L>) => void,
): Counter<L> {
  return new Counter({
    ...config(metrics, definition),
    ...(collect && {
      collect() {
        collect(this)
      },
    }),
  })
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
