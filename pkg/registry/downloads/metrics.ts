import type { Clock } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { DropReason, OnDropped } from './segments.ts'
import type { CountStore } from './store.ts'

const dropReasons: readonly DropReason[] = ['QueueFull', 'DiskFailed', 'Corrupt', 'Expired']
const kinds = ['Module', 'Provider'] as const

/** The metrics of this package. */
export function createMeters(metrics: Metrics) {
  const downloads = counter(metrics, {
    name: 'downloads_total',
    help: 'Downloads that this server saw.',
    labels: ['kind'],
  })
  const dropped = counter(metrics, {
    name: 'download_events_dropped_total',
    help: 'Downloads that will never be counted.',
    labels: ['reason'],
  })
  for (const kind of kinds) downloads.inc({ kind }, 0)
  for (const reason of dropReasons) dropped.inc({ reason }, 0)

  return {
    recorded: (kind: (typeof kinds)[number]) => downloads.inc({ kind }),
    dropped: (reason: DropReason, events: number) => dropped.inc({ reason }, events),

    /** Reports a queue at each scrape. */
    observe(
      queue: { readonly pending: number; readonly oldestAt: number | undefined },
      store: Pick<CountStore, 'name'>,
      state: { readonly isUp: boolean },
      clock: Clock,
    ): void {
      gauge(metrics, {
        name: 'download_queue_events',
        help: 'Downloads that wait to be counted.',
        collect: (it) => it.set(queue.pending),
      })
      gauge(metrics, {
        name: 'download_queue_oldest_timestamp_seconds',
        help: 'Time of the download that waits longest; the present if none waits.',
        collect: (it) => it.set((queue.oldestAt ?? clock()) / 1000),
      })
      gauge(metrics, {
        name: 'download_store_up',
        help: '1 while the store of download counts answers.',
        labels: ['store'],
        collect: (it) => it.set({ store: store.name }, state.isUp ? 1 : 0),
      })
    },
  }
}

const logIntervalMs = 60_000

/** Counts every lost event, and logs the first one and then one sum a minute for each reason. */
export function reportDrops(
  count: (reason: DropReason, events: number) => void,
  log: Logger,
  clock: Clock,
): OnDropped {
  const unlogged = new Map<DropReason, { events: number; loggedAt: number }>()
  return (reason, events) => {
    count(reason, events)
    const sum = unlogged.get(reason) ?? { events: 0, loggedAt: Number.NEGATIVE_INFINITY }
    sum.events += events
    unlogged.set(reason, sum)
    if (clock() - sum.loggedAt < logIntervalMs) return
    log.error({ reason, events: sum.events }, 'downloads lost, they will never be counted')
    Object.assign(sum, { events: 0, loggedAt: clock() })
  }
}
