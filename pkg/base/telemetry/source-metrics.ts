import type { Histogram } from 'prom-client'
import type { Reason } from '../errors/errors.ts'
import { gauge, histogram, type Metrics } from './metrics.ts'

// Metrics of a source of resources. Alerts and dashboards are the same for a cluster and a folder.

/** Why an object is left out. A cluster has no files, so that only Invalid and Internal happen there. */
const rejectReasons = [
  'InvalidSyntax',
  'Invalid',
  'Duplicate',
  'Unreadable',
  'Internal',
] as const satisfies readonly Reason[]
export type RejectReason = (typeof rejectReasons)[number]

/**
 * Counts the objects that are left out, at each scrape. Every reason has a series from the start, because an alert on the
 * end of something needs its zero.
 */
export function rejectedObjectsGauge(
  metrics: Metrics,
  kinds: () => Iterable<string>,
  rejected: () => Iterable<readonly [kind: string, reason: RejectReason, count: number]>,
): void {
  gauge(metrics, {
    name: 'catalog_rejected_objects',
    help: 'Objects that are left out because something is wrong with them.',
    labels: ['kind', 'reason'],
    collect: (objects) => {
      for (const kind of kinds())
        for (const reason of rejectReasons) objects.set({ kind, reason }, 0)
      for (const [kind, reason, count] of rejected()) objects.inc({ kind, reason }, count)
    },
  })
}

/** Tells of each kind whether all of it has been read, at each scrape; a kind that is read in parts, once every part is. */
export function syncedGauge(
  metrics: Metrics,
  synced: () => Iterable<readonly [kind: string, isSynced: boolean]>,
): void {
  gauge(metrics, {
    name: 'catalog_synced',
    help: '1 once everything of a kind has been read.',
    labels: ['kind'],
    collect: (gauges) => {
      for (const [kind, parts] of Map.groupBy(synced(), ([name]) => name)) {
        gauges.set({ kind }, parts.every(([, isSynced]) => isSynced) ? 1 : 0)
      }
    },
  })
}

/** How long changes take from being read to being answered with. */
export function changeLagHistogram(metrics: Metrics): Histogram<'kind'> {
  return histogram(metrics, {
    name: 'catalog_change_lag_seconds',
    help: 'Time from reading a change to answering with it.',
    labels: ['kind'],
    buckets: [0.0001, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1],
  })
}
