import { mkdirSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { KernelLock } from '../../base/folderlock/folderlock.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { DownloadEvent } from './event.ts'
import { encodeRecord, type JournalRecord } from './record.ts'
import { SegmentWriter } from './segment-writer.ts'
import { emptySegment, extend, type OnDropped, type Segment, Segments } from './segments.ts'

export interface JournalLimits {
  /** Time between an event and its place on disk, in milliseconds. */
  readonly flushMs: number
  /** Time until a disk that failed is tried again, in milliseconds. */
  readonly retryMs: number
  /** Time after which a disk that does not answer counts as failed, in milliseconds. */
  readonly stuckMs: number
  /** Size at which another file is begun. */
  readonly segmentBytes: number
  /** Most events in memory; more than one batch only while the disk fails. */
  readonly memoryEvents: number
}

export interface JournalOptions {
  readonly id: string
  /** A folder for this journal alone; it is made when there is an event to write. */
  readonly folder: string
  readonly limits: JournalLimits
  readonly clock: Clock
  readonly onDropped: OnDropped
  /** Called with an error when the disk begins to fail, and with nothing when it works again. */
  readonly onDisk: (err?: unknown) => void
}

interface ActiveSegment {
  readonly segment: Segment
  readonly writer: SegmentWriter
}

/** The events of this process: first in memory, within `flushMs` on disk, and there until a store has them. */
export class Journal {
  readonly id: string
  readonly #options: JournalOptions
  readonly #segments: Segments
  #onEvents: () => void = () => undefined
  /** Not on disk yet. */
  #memory: JournalRecord[] = []
  #applied = 0
  #sequence = 0
  #files = 0
  #lock: KernelLock | undefined
  #active: ActiveSegment | undefined
  #timer: NodeJS.Timeout | undefined
  #flushing: Promise<void> | undefined
  #flushingSince = Number.POSITIVE_INFINITY
  #failed = false

  constructor(options: JournalOptions) {
    this.#options = options
    this.id = options.id
    this.#segments = new Segments(options.onDropped)
  }

  /** Has a function called whenever there is something for `next`. */
  announceTo(onEvents: () => void): void {
    this.#onEvents = onEvents
  }

  /** Up to where the store has the events. */
  get applied(): number {
    return this.#applied
  }

  set applied(sequence: number) {
    this.#applied = sequence
    if (this.#memory.length > 0) this.#forget(sequence)
  }

  get segments(): Segments {
    return this.#segments
  }

  get pending(): number {
    return this.#segments.pending(this.applied) + this.#memory.length
  }

  get oldestAt(): number | undefined {
    return this.#segments.oldestAt(this.applied) ?? this.#memory[0]?.at
  }

  /** Takes an event; never waits and never throws. */
  append(event: DownloadEvent): void {
    const { limits, clock, onDropped } = this.#options
    this.#sequence += 1
    this.#memory.push({ sequence: this.#sequence, at: clock(), event })
    if (this.#memory.length > limits.memoryEvents) {
      this.#memory.shift()
      onDropped('DiskFailed', 1)
    }
    this.#schedule(this.#failed ? limits.retryMs : limits.flushMs)
  }

  /** Events that no store has, in their order; those in memory only while the disk fails. */
  async next(limit: number): Promise<JournalRecord[]> {
    const written = await this.#segments.next(this.applied, limit)
    if (written.length > 0 || !this.#isDiskFailing()) return written
    return this.#memory.slice(0, limit)
  }

  /** Writes what is in memory to disk, if the disk lets it. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#flushing !== undefined) await this.#flushing
    if (this.#memory.length === 0) return
    this.#flushingSince = this.#options.clock()
    this.#flushing = this.#write([...this.#memory]).finally(() => {
      this.#flushing = undefined
      this.#flushingSince = Number.POSITIVE_INFINITY
      const { flushMs, retryMs } = this.#options.limits
      if (this.#memory.length > 0) this.#schedule(this.#failed ? retryMs : flushMs)
    })
    await this.#flushing
  }

  /** Ends writing; what no store has stays on disk for the next process, what could not be written is lost. */
  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    const lost = this.#memory.length
    if (lost > 0) this.#options.onDropped('DiskFailed', lost)
    this.#memory = []
    await this.#active?.writer.close()
    this.#lock?.release()
  }

  /** Lets go of what is on disk or in the store. */
  #forget(last: number): void {
    this.#memory = this.#memory.filter(({ sequence }) => sequence > last)
  }

  #isDiskFailing(): boolean {
    const { clock, limits } = this.#options
    return this.#failed || clock() - this.#flushingSince > limits.stuckMs
  }

  #schedule(delayMs: number): void {
    if (this.#timer !== undefined || this.#flushing !== undefined) return
    this.#timer = setTimeout(() => void this.flush(), delayMs)
  }

  async #write(records: readonly JournalRecord[]): Promise<void> {
    const { limits, onDisk } = this.#options
    try {
      const { segment, writer } = this.#active ?? (await this.#begin())
      await writer.write(records.map(encodeRecord).join(''))
      segment.sizeBytes = writer.sizeBytes
      segment.records?.push(...records)
      extend(segment, records)
      const last = records.at(-1)?.sequence ?? 0
      this.#forget(last)
      if (this.#failed) onDisk()
      this.#failed = false
      if (segment.sizeBytes >= limits.segmentBytes) this.#end()
    } catch (error) {
      if (!this.#failed) onDisk(error)
      this.#failed = true
      this.#end()
    }
    this.#onEvents()
  }

  async #begin(): Promise<ActiveSegment> {
    const { folder } = this.#options
    if (this.#lock === undefined) {
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      this.#lock = KernelLock.take(folder, 'lock')
      if (this.#lock === undefined) throw new Error(`${folder} is in use by another process`)
    }
    this.#files += 1
    const path = join(folder, segmentName(this.#files))
    const writer = await SegmentWriter.create(path).catch((error: unknown) => {
      // The folder may have been removed, and with it the lock.
      this.#lock?.release()
      this.#lock = undefined
      throw error
    })
    const segment: Segment = { ...emptySegment(path), records: [] }
    this.#segments.add(segment)
    this.#active = { segment, writer }
    return this.#active
  }

  #end(): void {
    if (this.#active === undefined) return
    const { segment, writer } = this.#active
    segment.records = undefined
    this.#active = undefined
    void writer
      .close()
      .then(() => (segment.events === 0 ? rm(segment.path, { force: true }) : undefined))
      .catch(() => undefined)
  }
}

/** Sorts in the order of writing. */
function segmentName(number: number): string {
  return `${String(number).padStart(12, '0')}.log`
}
