import { type Kind, kindNames } from '../../api/v1alpha1/v1alpha1.ts'
import { changeLagHistogram, type Metrics, syncedGauge } from '../../base/telemetry/telemetry.ts'

/** What the source counts. */
export function createManifestMetrics(metrics: Metrics, isLoaded: () => boolean) {
  syncedGauge(metrics, () => kindNames.map((kind) => [kind, isLoaded()] as const))
  const lag = changeLagHistogram(metrics)
  return {
    /** @param readMs when the change was read, on the clock of `performance.now()` */
    published(kind: Kind, readMs: number): void {
      lag.observe({ kind }, (performance.now() - readMs) / 1000)
    },
  }
}
