import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'

export function createLeaseMetrics(metrics: Metrics, held: () => boolean) {
  gauge(metrics, {
    name: 'lease_held',
    help: '1 while this replica is the one that writes.',
    collect: (it) => it.set(held() ? 1 : 0),
  })
  return {
    losses: counter(metrics, {
      name: 'lease_losses_total',
      help: 'How often the lease could not be renewed in time, or was taken by another replica.',
    }),
  }
}
