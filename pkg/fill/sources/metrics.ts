import { counter, type Metrics } from '../../base/telemetry/telemetry.ts'

export function createFetchMetrics(metrics: Metrics) {
  return {
    bytes: counter(metrics, {
      name: 'fetch_bytes_total',
      help: 'Bytes of archives that were fetched, by type of source.',
      labels: ['source'],
    }),
  }
}
export type FetchSourceMetrics = ReturnType<typeof createFetchMetrics>
