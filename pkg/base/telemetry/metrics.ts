import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import packageJson from '../../../package.json' with { type: 'json' }

/** The version of this program. */
export const { version: programVersion } = packageJson

/** The registry of all metrics of a process; `metrics()` renders them for Prometheus. */
export type Metrics = Registry

/** A registry with `depot_build_info` and the `process_*` and `nodejs_*` metrics, event-loop delay included. */
export function createMetrics({ version = programVersion } = {}): Metrics {
  const metrics = new Registry()
  collectDefaultMetrics({ register: metrics })
  // Gauges with the names of counters. The same numbers by kind are in those without the suffix.
  for (const name of ['handles', 'requests', 'resources']) {
    metrics.removeSingleMetric(`nodejs_active_${name}_total`)
  }
  gauge(metrics, {
    name: 'build_info',
    help: 'What is running; always 1.',
    labels: ['version', 'revision'],
  }).set({ version, revision: 'unknown' }, 1)
  return metrics
}

interface Definition<L extends string, M> {
  /** Without the prefix `depot_`, in base units: `http_request_duration_seconds`. */
  readonly name: string
  readonly help: string
  readonly labels?: readonly L[]
  /** Called at each scrape, with what is cheaper to read then than to keep up to date. */
  readonly collect?: (metric: M) => void
}

const config = <L extends string, M>(
  metrics: Metrics,
  { name, help, labels, collect }: Definition<L, M>,
) => ({
  name: `depot_${name}`,
  help,
  labelNames: labels ?? [],
  registers: [metrics],
  ...(collect && {
    collect(this: M) {
      collect(this)
    },
  }),
})

export function counter<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L, Counter<L>>,
): Counter<L> {
  return new Counter(config(metrics, definition))
}

export function gauge<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L, Gauge<L>>,
): Gauge<L> {
  return new Gauge(config(metrics, definition))
}

/** Creates metrics once for each registry: a process starts some parts again, such as when it becomes leader. */
export function oncePer<M>(create: (metrics: Metrics) => M): (metrics: Metrics) => M {
  const known = new WeakMap<Metrics, M>()
  return (metrics) => {
    const made = known.get(metrics) ?? create(metrics)
    known.set(metrics, made)
    return made
  }
}

/** Buckets for durations of requests, in seconds. */
export const requestDurationBuckets: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10,
]

/** @param definition its buckets are upper bounds, in the unit of the metric's name */
export function histogram<L extends string = never>(
  metrics: Metrics,
  definition: Definition<L, Histogram<L>> & { readonly buckets: readonly number[] },
): Histogram<L> {
  return new Histogram({ ...config(metrics, definition), buckets: [...definition.buckets] })
}
