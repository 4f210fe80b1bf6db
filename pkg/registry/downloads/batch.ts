import {
  type CountedDownload,
  type DownloadEvent,
  type DownloadedResource,
  eventOf,
  fieldsOf,
  listIn,
} from './event.ts'
import type { JournalRecord } from './record.ts'

/** Age of the hourly history. */
export const historyDays = 90

/** The sum of consecutive events of one journal. A store applies all of it or nothing. */
export interface Batch {
  readonly journal: string
  /** The last event of this journal that the store has. A store with another one refuses the batch. */
  readonly after: number
  /** The last event of the batch. */
  readonly last: number
  readonly archives: readonly CountedDownload[]
  /** Counts of each resource and of each downloaded version. */
  readonly hours: readonly HourOf[]
  /** Each day of each consumer and version once. */
  readonly uses: readonly UseOf[]
}

export interface UseOf extends DownloadedResource {
  readonly version: string
  readonly consumer: string
  /** Days since 1970. */
  readonly day: number
}

interface HourOf extends DownloadedResource {
  /** Absent: all versions together. */
  readonly version?: string
  /** Hours since 1970. */
  readonly hour: number
  readonly count: number
}

export const hourMs = 3_600_000

/** Days since 1970. */
export const dayOf = (at: number): number => Math.floor(at / (24 * hourMs))

/** Hours since 1970. */
export const hourOf = (at: number): number => Math.floor(at / hourMs)

/** Identifies an archive. */
export function archiveKey(event: Omit<DownloadEvent, 'consumer'>): string {
  return JSON.stringify(fieldsOf(event))
}

/** The archive of a key; undefined if the key is invalid. */
export function archiveOf(key: string): DownloadEvent | undefined {
  return eventOf(listIn(key) ?? [])
}

/**
 * @param records in the order of their sequence, at least one
 * @param now milliseconds since 1970; history that would expire at once is omitted
 */
export function batchOf(
  journal: string,
  after: number,
  records: readonly JournalRecord[],
  now: number,
): Batch {
  const archives = new Map<string, CountedDownload>()
  const hours = new Map<string, HourOf>()
  const countHour = (one: Omit<HourOf, 'count'>): void => {
    const key = JSON.stringify([one.kind, one.namespace, one.name, one.hour, one.version])
    hours.set(key, { ...one, count: (hours.get(key)?.count ?? 0) + 1 })
  }
  const uses = new Map<string, UseOf>()
  const oldest = hourOf(now) - historyDays * 24
  for (const { at, event: recorded } of records) {
    const { consumer, ...event } = recorded
    const key = archiveKey(event)
    const { count = 0, lastAt = 0 } = archives.get(key) ?? {}
    archives.set(key, { ...event, count: count + 1, lastAt: Math.max(lastAt, at) })

    const { kind, namespace, name, version } = event
    const hour = hourOf(at)
    if (hour < oldest) continue
    countHour({ kind, namespace, name, hour })
    countHour({ kind, namespace, name, hour, version })
    if (consumer === undefined) continue
    const day = dayOf(at)
    const use = { kind, namespace, name, version, consumer, day }
    uses.set(JSON.stringify(Object.values(use)), use)
  }
  const last = records.at(-1)?.sequence ?? after
  return {
    journal,
    after,
    last,
    archives: [...archives.values()],
    hours: [...hours.values()],
    uses: [...uses.values()],
  }
}
