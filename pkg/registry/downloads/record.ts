import { crc32 } from 'node:zlib'
import { type DownloadEvent, eventOf, fieldsOf, listIn } from './event.ts'

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
