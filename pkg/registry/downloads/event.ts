import { crc32 } from 'node:zlib'
import type { ParentKind } from '../../api/v1alpha1/v1alpha1.ts'
import { jsonOf } from '../../base/errors/errors.ts'

/** One download of an archive. */
export interface DownloadEvent {
  readonly kind: ParentKind
  readonly namespace: string
  readonly name: string
  /** Without a leading `v`. */
  readonly version: string
  /** Platform of a provider's archive; absent for modules. */
  readonly os?: string | undefined
  readonly arch?: string | undefined
  /** Name of the caller, such as a service account or a team; absent if nobody knows, or nobody may. */
  readonly consumer?: string | undefined
}

/** The archive of an event in JSON arrays. Modules have no platform. */
type ArchiveFields = readonly [
  kind: DownloadEvent['kind'],
  namespace: string,
  name: string,
  version: string,
  os?: string,
  arch?: string,
]

function fieldsOf(event: DownloadEvent): ArchiveFields {
  const { kind, namespace, name, version, os, arch } = event
  if (os === undefined && arch === undefined) return [kind, namespace, name, version]
  return [kind, namespace, name, version, os ?? '', arch ?? '']
}

/** The event with these fields; undefined if they are invalid. */
function eventOf(fields: readonly unknown[]): DownloadEvent | undefined {
  const [kind, ...texts] = fields
  if (kind !== 'Module' && kind !== 'Provider') return undefined
  if (!texts.every((text) => typeof text === 'string')) return undefined
  const [namespace, name, version, os, arch] = texts
  if (namespace === undefined || name === undefined || version === undefined) return undefined
  if (texts.length > 5 || (os === undefined) !== (arch === undefined)) return undefined
  return { kind, namespace, name, version, ...(os !== undefined && { os, arch }) }
}

/** The array in a JSON text; undefined if it is not an array. */
function listIn(text: string): readonly unknown[] | undefined {
  const value = jsonOf(text)
  return Array.isArray(value) ? value : undefined
}

/** Number of all downloads of one archive. */
export interface CountedDownload extends Omit<DownloadEvent, 'consumer'> {
  readonly count: number
  /** Time of the last one, in milliseconds since 1970. */
  readonly lastAt: number
}

/** Downloads of one resource, or of one version of it, in one hour. */
export interface HourlyCount {
  /** Start of the hour, in milliseconds since 1970. */
  readonly startsAt: number
  /** Absent: all versions together. */
  readonly version?: string
  readonly count: number
}

/** Use of a version by a consumer in the last 90 days. */
export interface ConsumerUse {
  readonly consumer: string
  readonly version: string
  /** The last day, in days since 1970. */
  readonly day: number
  /** On how many days. */
  readonly days: number
}

/** A resource without its version. */
export type DownloadedResource = Pick<DownloadEvent, 'kind' | 'namespace' | 'name'>

/** One event in the journal. */
export interface JournalRecord {
  /** Counts from 1 within its journal. */
  readonly sequence: number
  /** Milliseconds since 1970. */
  readonly at: number
  readonly event: DownloadEvent
}

/** One line: a checksum (CRC-32, eight hexadecimal digits), a blank, and the fields as a JSON array. */
export function encodeRecord({ sequence, at, event }: JournalRecord): string {
  const { consumer } = event
  const by = consumer === undefined ? [] : [{ consumer }]
  const fields = JSON.stringify([sequence, at, ...fieldsOf(event), ...by])
  return `${checksum(fields)} ${fields}\n`
}

/** Reads complete lines; `corrupt` counts the others. */
export function decodeRecords(text: string): { records: JournalRecord[]; corrupt: number } {
  const records: JournalRecord[] = []
  let corrupt = 0
  for (const line of text.split('\n')) {
    if (line === '') continue
    const record = decodeRecord(line)
    if (record === undefined) corrupt += 1
    else records.push(record)
  }
  return { records, corrupt }
}

function decodeRecord(line: string): JournalRecord | undefined {
  const fields = line.slice(9)
  if (line[8] !== ' ' || line.slice(0, 8) !== checksum(fields)) return undefined
  // The checksum proves only that the line is complete, not which program or version wrote it.
  const [sequence, at, ...archive] = listIn(fields) ?? []
  if (typeof sequence !== 'number' || typeof at !== 'number') return undefined
  const consumer = consumerIn(archive.at(-1))
  const event = eventOf(consumer === undefined ? archive : archive.slice(0, -1))
  return event && { sequence, at, event: { ...event, ...(consumer !== undefined && { consumer }) } }
}

function consumerIn(field: unknown): string | undefined {
  const isObject = typeof field === 'object' && field !== null
  const consumer = isObject && 'consumer' in field ? field.consumer : undefined
  return typeof consumer === 'string' ? consumer : undefined
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0')
}

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

/** Storage of counts. Every method may fail at any time without telling whether it took effect: callers then ask `applied`. */
export interface CountStore {
  readonly name: 'sqlite' | 'valkey'
  /** Changes whenever the store may have lost data: it reconnected, or was replaced by another one. */
  readonly generation: number
  /**
   * Counts a batch if the store has this journal up to `batch.after`, otherwise does nothing.
   *
   * @returns the last event of this journal that the store has now
   */
  apply(batch: Batch): Promise<number>
  /** The last event of a journal that the store has; 0 for an unknown journal. */
  applied(journal: string): Promise<number>
  /**
   * Counts that changed after a revision, in the order of their changes.
   *
   * @param after 0 for everything
   * @returns at most `limit` counts, and the revision to continue from
   */
  changes(after: number, limit: number): Promise<{ counts: CountedDownload[]; revision: number }>
  /**
   * Hours of the last 90 days in which a resource was downloaded, oldest first.
   *
   * @param versions that are also counted separately
   */
  hourly(resource: DownloadedResource, versions: readonly string[]): Promise<HourlyCount[]>
  /** The consumers of a resource in the last 90 days. Of more than 1,000, the rest is `others`. */
  consumers(resource: DownloadedResource): Promise<ConsumerUse[]>
  close(): Promise<void>
}

/** The name of consumers that have no entry of their own. No other name begins with a parenthesis. */
export const otherConsumers = '(others)'
export const maxConsumers = 1_000

/** How long a store remembers a journal without new events. */
export const journalMemoryDays = 90
