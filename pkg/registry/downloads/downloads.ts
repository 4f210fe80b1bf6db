/**
 * Counts downloads: a journal on disk, stores that several servers may share, and the way of the counts back. Callers of
 * `record` decide what counts as a download.
 */

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { type Clock, endsWithin } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type CountSink, Delivery, Journals } from './delivery.ts'
import type {
  ConsumerUse,
  CountStore,
  DownloadEvent,
  DownloadedResource,
  HourlyCount,
} from './event.ts'
import { Journal, type JournalLimits } from './journal.ts'
import type { DropReason, OnDropped } from './segments.ts'
import { SqliteStore } from './sqlite-store.ts'
import { type ValkeyAddress, ValkeyStore } from './valkey-store.ts'

export type { ConsumerUse, CountedDownload, DownloadEvent, HourlyCount } from './event.ts'
export { SqliteStore } from './sqlite-store.ts'

export interface DownloadsOptions {
  /** A SQLite file for this server, or a Valkey for several. */
  readonly store:
    | { readonly path: string }
    | { readonly valkey: ValkeyAddress; readonly password?: string | undefined }
  /** Folder of the queued events; several servers may share it. */
  readonly journalDir: string
  /** Interval of reading the counts of other servers, in milliseconds. */
  readonly refreshIntervalMs: number
  /** Receives the counts. */
  readonly sink: CountSink
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: the clock of the machine. */
  readonly clock?: Clock
  /** For tests. */
  readonly limits?: Partial<DownloadLimits>
}

/** Asks a Valkey something that only a client with the right password may ask. @throws any Error if it does not answer */
export async function tryValkey(
  address: ValkeyAddress,
  password: string | undefined,
): Promise<void> {
  const store = new ValkeyStore({ address, password, clock: Date.now })
  try {
    await store.applied('doctor')
  } finally {
    await store.close()
  }
}

interface DownloadLimits extends JournalLimits {
  /** Limit of bytes on disk. Beyond it the oldest events are lost. */
  readonly maxQueueBytes: number
}

export interface DownloadCounter {
  /** Counts one download. Never waits and never throws. Within 100 ms the event survives the end of this process. */
  record(event: DownloadEvent): void
  /**
   * Hours of the last 90 days in which a resource was downloaded, oldest first.
   *
   * @param versions that are also counted separately. Default: none
   * @throws Error while the store is unavailable
   */
  hourly(resource: DownloadedResource, versions?: readonly string[]): Promise<HourlyCount[]>
  /** Consumers of a resource in the last 90 days, as `CountStore.consumers`. @throws Error while the store is unavailable */
  consumers(resource: DownloadedResource): Promise<ConsumerUse[]>
  /** Delivers pending events if the store answers in time. The rest stays on disk for the next start. */
  close(deadlineMs: number): Promise<void>
}

const defaultLimits: DownloadLimits = {
  flushMs: 5,
  retryMs: 1_000,
  stuckMs: 5_000,
  segmentBytes: 128 * 1024,
  memoryEvents: 10_000,
  maxQueueBytes: 256 * 1024 * 1024,
}

function openStore(of: DownloadsOptions['store'], clock: Clock): CountStore {
  if ('path' in of) return new SqliteStore({ path: of.path, clock })
  return new ValkeyStore({ address: of.valkey, password: of.password, clock })
}

/**
 * Counts each download exactly once, even after crashes. An event goes to a journal on disk, from there in batches to the
 * store, and back as a count to the sink. While the store is unavailable, events are queued and the sink keeps its counts.
 */
export function createDownloads(options: DownloadsOptions): DownloadCounter {
  const { journalDir, refreshIntervalMs, sink, metrics, clock = Date.now } = options
  const log = options.log.child({ component: 'downloads' })
  const limits = { ...defaultLimits, ...options.limits }
  const meters = createMeters(metrics)
  const onDropped = reportDrops(meters.dropped, log, clock)

  const store = openStore(options.store, clock)
  const id = randomUUID()
  const own = new Journal({
    id,
    folder: join(journalDir, id),
    limits,
    clock,
    onDropped,
    onDisk: (err) => {
      if (err === undefined) log.info({ journalDir }, 'download events are written to disk again')
      else
        log.error(
          { err, journalDir },
          'download events cannot be written to disk, they are queued in memory',
        )
    },
  })
  const journals = new Journals({
    dir: journalDir,
    own,
    maxBytes: limits.maxQueueBytes,
    onDropped,
    onAdopted: (journal, events) =>
      log.info({ journal, events }, 'took over the journal of a process that has ended'),
  })
  const delivery = new Delivery({ journals, store, sink, refreshIntervalMs, log, clock })
  meters.observe(journals, store, delivery, clock)
  delivery.start()

  async function close(deadlineMs: number): Promise<void> {
    const delivered = own.flush().then(() => delivery.stop())
    await endsWithin(delivered, deadlineMs)
    await store.close()
    await endsWithin(journals.close(), deadlineMs)
    const events = journals.pending
    if (events > 0)
      log.warn({ events }, 'downloads are queued on disk and counted after the next start')
  }

  let closing: Promise<void> | undefined
  return {
    record(event) {
      meters.recorded(event.kind)
      own.append(event)
    },
    hourly: (resource, versions = []) => store.hourly(resource, versions),
    consumers: (resource) => store.consumers(resource),
    close(deadlineMs) {
      closing ??= close(deadlineMs)
      return closing
    },
  }
}

const dropReasons: readonly DropReason[] = ['QueueFull', 'DiskFailed', 'Corrupt', 'Expired']
const kinds = ['Module', 'Provider'] as const

/** The metrics of this package. */
function createMeters(metrics: Metrics) {
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
function reportDrops(
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
