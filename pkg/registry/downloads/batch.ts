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
}

interface HourOf extends DownloadedResource {
  /** Absent: all versions together. */
  readonly version?: string
  /** Hours since 1970. */
  readonly hour: number
  readonly count: number
}

export const hourMs = 3_600_000

/** Hours since 1970. */
export const hourOf = (at: number): number => Math.floor(at / hourMs)

/** Identifies an archive. */
export function archiveKey(event: DownloadEvent): string {
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
  const oldest = hourOf(now) - historyDays * 24
  for (const { at, event } of records) {
    const key = archiveKey(event)
    const { count = 0, lastAt = 0 } = archives.get(key) ?? {}
    archives.set(key, { ...event, count: count + 1, lastAt: Math.max(lastAt, at) })

    const { kind, namespace, name, version } = event
    const hour = hourOf(at)
    if (hour < oldest) continue
    countHour({ kind, namespace, name, hour })
    countHour({ kind, namespace, name, hour, version })
  }
  const last = records.at(-1)?.sequence ?? after
  return { journal, after, last, archives: [...archives.values()], hours: [...hours.values()] }
}
