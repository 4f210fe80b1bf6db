import { readFile, rm } from 'node:fs/promises'
import type { ReasonOf } from '../../base/errors/errors.ts'
import { decodeRecords, type JournalRecord } from './event.ts'

/** Reason why an event will never be counted; label of a metric. */
export type DropReason = ReasonOf<'QueueFull' | 'DiskFailed' | 'Corrupt' | 'Expired'>

/** Called with lost events. */
export type OnDropped = (reason: DropReason, events: number, err?: unknown) => void

/** One file of a journal. Its records are consecutive, except for dropped ones. */
export interface Segment {
  readonly path: string
  first: number
  last: number
  events: number
  firstAt: number
  lastAt: number
  sizeBytes: number
  /** The content of the file, while it is written. */
  records?: JournalRecord[] | undefined
}

/** Adds records to the description of a segment. */
export function extend(segment: Segment, records: readonly JournalRecord[]): void {
  const [first, last] = [records[0], records.at(-1)]
  if (first === undefined || last === undefined) return
  if (segment.events === 0) Object.assign(segment, { first: first.sequence, firstAt: first.at })
  segment.events += records.length
  segment.last = last.sequence
  segment.lastAt = last.at
}

export function emptySegment(path: string): Segment {
  return { path, first: 0, last: 0, events: 0, firstAt: 0, lastAt: 0, sizeBytes: 0 }
}

/** The files of one journal, oldest first. */
export class Segments {
  readonly #segments: Segment[] = []
  readonly #onDropped: OnDropped

  constructor(onDropped: OnDropped) {
    this.#onDropped = onDropped
  }

  get sizeBytes(): number {
    return this.#segments.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  }

  get isEmpty(): boolean {
    return this.#segments.length === 0
  }

  /** Whether the oldest file is still written. */
  get isOldestOpen(): boolean {
    return this.#segments[0]?.records !== undefined
  }

  add(segment: Segment): void {
    this.#segments.push(segment)
  }

  /** Takes over a file of another process. */
  async adopt(path: string): Promise<void> {
    const text = await readFile(path, 'utf8')
    const { records, corrupt } = decodeRecords(text)
    if (corrupt > 0) this.#onDropped('Corrupt', corrupt)
    const segment = { ...emptySegment(path), sizeBytes: Buffer.byteLength(text) }
    extend(segment, records)
    this.add(segment)
  }

  /** Number of events after `applied`. */
  pending(applied: number): number {
    return this.#segments.reduce((sum, segment) => sum + pendingIn(segment, applied), 0)
  }

  /** Time of the first event after `applied`, or of an event shortly before it. */
  oldestAt(applied: number): number | undefined {
    return this.#firstPending(applied)?.firstAt
  }

  /** The next events after `applied`, at most `limit`. */
  async next(applied: number, limit: number): Promise<JournalRecord[]> {
    for (;;) {
      const segment = this.#firstPending(applied)
      if (segment === undefined) return []
      const records = (segment.records ?? (await this.#read(segment))).filter(
        ({ sequence }) => sequence > applied,
      )
      if (records.length > 0) return records.slice(0, limit)
      this.#onDropped('Corrupt', pendingIn(segment, applied))
      await this.#remove(segment)
    }
  }

  /**
   * Removes the oldest file.
   *
   * @param reason of the loss of events that were not applied yet
   */
  async dropOldest(applied: number, reason: DropReason): Promise<void> {
    const [segment] = this.#segments
    if (segment === undefined) return
    const lost = pendingIn(segment, applied)
    if (lost > 0) this.#onDropped(reason, lost)
    await this.#remove(segment)
  }

  /** Removes files whose last event is older than `before` (milliseconds since 1970), except the one that is written. */
  async trim(applied: number, before: { applied: number; any: number }): Promise<void> {
    for (;;) {
      const [segment] = this.#segments
      if (segment === undefined || segment.records !== undefined) return
      const isApplied = pendingIn(segment, applied) === 0
      if (segment.lastAt >= (isApplied ? before.applied : before.any)) return
      await this.dropOldest(applied, 'Expired')
    }
  }

  #firstPending(applied: number): Segment | undefined {
    return this.#segments.find((segment) => pendingIn(segment, applied) > 0)
  }

  async #read(segment: Segment): Promise<JournalRecord[]> {
    try {
      return decodeRecords(await readFile(segment.path, 'utf8')).records
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
      throw error
    }
  }

  async #remove(segment: Segment): Promise<void> {
    const index = this.#segments.indexOf(segment)
    if (index >= 0) this.#segments.splice(index, 1)
    await rm(segment.path, { force: true }).catch(() => undefined)
  }
}

function pendingIn({ first, last, events }: Segment, applied: number): number {
  return applied < first ? events : Math.max(0, last - applied)
}
