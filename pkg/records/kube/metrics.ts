import type { Kind } from '../../api/v1alpha1/v1alpha1.ts'
import {
  changeLagHistogram,
  counter,
  gauge,
  histogram,
  type Metrics,
  rejectedObjectsGauge,
  syncedGauge,
} from '../../base/telemetry/telemetry.ts'
import type { ResourceStore } from './store.ts'

/** Metrics of reflectors. */
export function createWatchMetrics(metrics: Metrics) {
  return {
    restarts: counter(metrics, {
      name: 'watch_restarts_total',
      help: 'Restarts of watches and lists, by the reason why they ended.',
      labels: ['kind', 'reason'],
    }),
    relists: counter(metrics, {
      name: 'watch_relists_total',
      help: 'How often all objects had to be listed again, by the reason.',
      labels: ['kind', 'reason'],
    }),
    differences: counter(metrics, {
      name: 'watch_differences_total',
      help: 'Objects that a comparison found different from the API server, and that were read again.',
      labels: ['kind'],
    }),
    decodeErrors: counter(metrics, {
      name: 'watch_decode_errors_total',
      help: 'Answers of the API server that could not be read.',
      labels: ['kind', 'reason'],
    }),
    changeLag: changeLagHistogram(metrics),
    syncDuration: histogram(metrics, {
      name: 'watch_sync_duration_seconds',
      help: 'Time to list all objects of a kind.',
      labels: ['kind'],
      buckets: [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
    }),
  }
}
export type WatchMetrics = ReturnType<typeof createWatchMetrics>

interface WatchState {
  readonly lastContactMs: number
  readonly isStale: boolean
  readonly isSynced: boolean
}

export interface WatchedKind {
  readonly kind: Kind
  readonly reflector: WatchState
  /** Undefined if objects are not checked, so that none is rejected. */
  readonly store?: ResourceStore
}

/** Shows the state of every kind at each scrape. A kind that is watched in several namespaces shows the worst of them. */
export function showWatches(metrics: Metrics, watched: readonly WatchedKind[]): void {
  const perKind = (
    name: string,
    help: string,
    read: (reflector: WatchState) => number,
    worst: (...values: number[]) => number,
  ) =>
    gauge(metrics, {
      name,
      help,
      labels: ['kind'],
      collect: (it) => {
        for (const [kind, some] of Map.groupBy(watched, (one) => one.kind)) {
          it.set({ kind }, worst(...some.map(({ reflector }) => read(reflector))))
        }
      },
    })
  perKind(
    'watch_last_contact_timestamp_seconds',
    'Time of the last message of the API server, bookmarks included; with several namespaces, that of the longest silence.',
    ({ lastContactMs }) => lastContactMs / 1000,
    Math.min,
  )
  perKind(
    'watch_stale',
    '1 while changes of a kind may be missing.',
    ({ isStale }) => (isStale ? 1 : 0),
    Math.max,
  )
  syncedGauge(metrics, () =>
    watched.map(({ kind, reflector }) => [kind, reflector.isSynced] as const),
  )
  const checked = () =>
    watched.flatMap(({ kind, store }) => (store === undefined ? [] : [{ kind, store }]))
  rejectedObjectsGauge(
    metrics,
    () => checked().map(({ kind }) => kind),
    () =>
      checked().flatMap(({ kind, store }) =>
        [...store.rejections()].map(([reason, count]) => [kind, reason, count] as const),
      ),
  )
}
