import { mkdirSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { KernelLock } from '../../base/folderlock/folderlock.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import { type DownloadEvent, encodeRecord, type JournalRecord } from './event.ts'
import { emptySegment, extend, type OnDropped, type Segment, Segments } from './segments.ts'

export interface JournalLimits {
  /** Time until an event is on disk, in milliseconds. */
  readonly flushMs: number
  /** Time until a failed disk is tried again, in milliseconds. */
  readonly retryMs: number
  /** Time after which a disk without an answer counts as failed, in milliseconds. */
  readonly stuckMs: number
  /** Size at which a new file is started. */
  readonly segmentBytes: number
  /** Limit of events in memory. Reached only while the disk fails. */
  readonly memoryEvents: number
}

export interface JournalOptions {
  readonly id: string
  /** The folder of this journal, created with the first event. */
  readonly folder: string
  readonly limits: JournalLimits
  readonly clock: Clock
  readonly onDropped: OnDropped
  /** Called with an error when the disk begins to fail, and without one when it works again. */
  readonly onDisk: (err?: unknown) => void
}

interface ActiveSegment {
  readonly segment: Segment
  readonly writer: SegmentWriter
}

/** The events of this process: first in memory, within `flushMs` on disk, until a store has them. */
export class Journal {
  readonly id: string
  readonly #options: JournalOptions
  /** Called whenever `next` has events. */
  onEvents: () => void = () => undefined
  readonly #segments: Segments
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

  /** The last event that the store has. */
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

  /** Adds an event. Never waits and never throws. */
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

  /** Events that are not in a store yet, in order. Those in memory only while the disk fails. */
  async next(limit: number): Promise<JournalRecord[]> {
    const written = await this.#segments.next(this.applied, limit)
    if (written.length > 0 || !this.#isDiskFailing()) return written
    return this.#memory.slice(0, limit)
  }

  /** Writes events from memory to disk, if the disk works. */
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

  /** Stops writing. Undelivered events stay on disk for the next process; unwritten ones are lost. */
  async close(): Promise<void> {
    await this.flush()
    clearTimeout(this.#timer)
    const lost = this.#memory.length
    if (lost > 0) this.#options.onDropped('DiskFailed', lost)
    this.#memory = []
    await this.#active?.writer.close()
    this.#lock?.release()
  }

  /** Drops events from memory that are on disk or in the store. */
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
    this.onEvents()
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
      // The folder may have been removed together with the lock.
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

/** File names sort in the order of writing. */
function segmentName(number: number): string {
  return `${String(number).padStart(12, '0')}.log`
}

/**
 * Appends to a file of its own. Written events survive the end of this process at once. A sync follows the writes, one at a
 * time, so that they also survive a power failure.
 */
class SegmentWriter {
  readonly #file: FileHandle
  readonly #path: string
  #sizeBytes = 0
  #unsynced = false
  #syncing: Promise<void> | undefined
  #syncError: unknown

  private constructor(file: FileHandle, path: string) {
    this.#file = file
    this.#path = path
  }

  static async create(path: string): Promise<SegmentWriter> {
    return new SegmentWriter(await open(path, 'wx', 0o600), path)
  }

  get sizeBytes(): number {
    return this.#sizeBytes
  }

  /** Writes everything or, as far as readers can see, nothing. */
  async write(text: string): Promise<void> {
    if (this.#syncError !== undefined) throw this.#syncError
    const bytes = Buffer.from(text)
    try {
      await this.#file.appendFile(bytes)
    } catch (error) {
      await this.#file.truncate(this.#sizeBytes).catch(() => undefined)
      throw error
    }
    const isNew = this.#sizeBytes === 0
    this.#sizeBytes += bytes.length
    this.#unsynced = true
    this.#syncing ??= this.#sync(isNew).finally(() => {
      this.#syncing = undefined
    })
  }

  async close(): Promise<void> {
    await this.#syncing
    await this.#file.close()
  }

  async #sync(isNew: boolean): Promise<void> {
    try {
      if (isNew) await syncFolder(dirname(this.#path))
      while (this.#unsynced) {
        this.#unsynced = false
        await this.#file.datasync()
      }
    } catch (error) {
      this.#syncError = error
    }
  }
}

/** A new file is found again only after its folder was synced. */
async function syncFolder(path: string): Promise<void> {
  await using folder = await open(path, 'r')
  await folder.sync()
}
