import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'

export function createEgressMetrics(metrics: Metrics) {
  return {
    requests: counter(metrics, {
      name: 'upstream_requests_total',
      help: 'Requests to upstreams, by host and status; other means a host that no option names.',
      labels: ['host', 'code'],
    }),
    refused: counter(metrics, {
      name: 'egress_refused_total',
      help: 'Requests that were refused because of their host or address.',
    }),
    remaining: gauge(metrics, {
      name: 'ratelimit_remaining',
      help: 'Requests that an upstream still allows, according to its last answer.',
      labels: ['host'],
    }),
  }
}
export type EgressMetrics = ReturnType<typeof createEgressMetrics>
