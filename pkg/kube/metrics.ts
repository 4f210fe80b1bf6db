import { changeLagHistogram, counter, histogram, type Metrics } from '../telemetry/telemetry.ts'

/** What reflectors count. */
export function createMeters(metrics: Metrics) {
  return {
    restarts: counter(metrics, {
      name: 'watch_restarts_total',
      help: 'Watches and lists that ended and were begun again, by why they ended.',
      labels: ['kind', 'reason'],
    }),
    relists: counter(metrics, {
      name: 'watch_relists_total',
      help: 'How often everything had to be read anew, by why.',
      labels: ['kind', 'reason'],
    }),
    decodeErrors: counter(metrics, {
      name: 'watch_decode_errors_total',
      help: 'Answers of the API server that could not be read.',
      labels: ['kind', 'reason'],
    }),
    changeLag: changeLagHistogram(metrics),
    syncDuration: histogram(
      metrics,
      {
        name: 'watch_sync_duration_seconds',
        help: 'Time to read everything there is of a kind.',
        labels: ['kind'],
      },
      [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    ),
  }
}
export type Meters = ReturnType<typeof createMeters>
