import { Hono } from 'hono'
import type { ServingEnv } from '../../base/serving/serving.ts'
import type { Metrics } from '../../base/telemetry/telemetry.ts'
import { moduleRoutes } from './module-endpoint.ts'
import { providerRoutes } from './provider-endpoint.ts'
import { PublishMetrics, type PublishParts } from './publish-parts.ts'

export interface PublishRoutesOptions extends Omit<PublishParts, 'metrics' | 'mibMs'> {
  readonly metrics: Metrics
  /** How long each MiB of a body may take to arrive, in milliseconds. Default: 60000. */
  readonly mibMs?: number
}

/** Publishes what callers send. A version is published when the answer says so. */
export function publishRoutes({
  mibMs = 60_000,
  ...options
}: PublishRoutesOptions): Hono<ServingEnv> {
  const log = options.log.child({ component: 'publishing' })
  const metrics = new PublishMetrics(options.metrics)
  const parts = { ...options, mibMs, log, metrics }
  return new Hono<ServingEnv>().route('/', moduleRoutes(parts)).route('/', providerRoutes(parts))
}
