import { type Kind, kindNames } from '../apis/v1alpha1/v1alpha1.ts'
import { changeLagHistogram, gauge, type Metrics } from '../telemetry/telemetry.ts'

/** The same metrics as of a cluster, so that alerts and dashboards need not know where resources come from. */
export function createMeters(metrics: Metrics, isLoaded: () => boolean) {
  gauge(
    metrics,
    {
      name: 'catalog_synced',
      help: '1 once everything of a kind has been read.',
      labels: ['kind'],
    },
    (synced) => {
      for (const kind of kindNames) synced.set({ kind }, isLoaded() ? 1 : 0)
    },
  )
  const lag = changeLagHistogram(metrics)
  return {
    /** @param readMs when the change was read, on the clock of `performance.now()` */
    published(kind: Kind, readMs: number): void {
      lag.observe({ kind }, (performance.now() - readMs) / 1000)
    },
  }
}
