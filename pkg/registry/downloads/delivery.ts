import { readdir, rmdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { KernelLock } from '../../base/folderlock/folderlock.ts'
import { Backoff, type Clock, pause, Turns } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { batchOf, type CountedDownload, type CountStore, type JournalRecord } from './event.ts'
import type { Journal } from './journal.ts'
import { type OnDropped, Segments } from './segments.ts'

/** Receives counts. */
export interface CountSink {
  /** Replaces the counts of these archives. */
  setDownloads(counts: readonly CountedDownload[]): void
}

export interface DeliveryOptions {
  readonly journals: Journals
  readonly store: CountStore
  readonly sink: CountSink
  readonly refreshIntervalMs: number
  readonly log: Logger
  readonly clock: Clock
}

const batchEvents = 500
const pageSize = 1_000
/** Minimum time between two rounds, so that a busy server sends few, large batches. */
const paceMs = 100
const adoptIntervalMs = 60_000

/** Delivers events from the journals to the store, and counts from the store to the sink, one after the other. */
export class Delivery {
  readonly #options: DeliveryOptions
  readonly #backoff = new Backoff({ firstMs: 100, capMs: 5_000, jitter: 'equal' })
  #up = false
  /** Undefined until the first round has ended. */
  #wasUp: boolean | undefined
  #generation = -1
  #revision = 0
  /** In the time of `performance.now`, which never goes back. */
  #nextRefreshAt = 0
  #nextAdoptAt = 0
  #eventsWaiting = false
  #wakeForEvents: () => void = () => undefined
  readonly #stopping = new AbortController()
  #running: Promise<void> | undefined

  constructor(options: DeliveryOptions) {
    this.#options = options
  }

  /** Whether the last request to the store succeeded. */
  get isUp(): boolean {
    return this.#up
  }

  start(): void {
    this.#options.journals.own.onEvents = () => this.#announce()
    this.#running = this.#run()
  }

  /** Delivers pending events, if the store is available, and stops. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
    if (this.#up) await this.#round()
  }

  /** Called when there are events to deliver. */
  #announce(): void {
    this.#eventsWaiting = true
    this.#wakeForEvents()
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping
    while (!signal.aborted) {
      await this.#round()
      if (!this.#up) await pause(this.#backoff.nextMs(), signal)
      else {
        this.#backoff.reset()
        await pause(paceMs, signal)
        const idleMs = this.#nextRefreshAt - performance.now()
        if (!this.#eventsWaiting) await pause(idleMs, signal, this.#untilEvents)
      }
    }
  }

  async #round(): Promise<void> {
    await this.#tidy().catch((err: unknown) => {
      this.#options.log.warn({ err }, 'download events on disk cannot be tidied up')
    })
    const now = performance.now()
    this.#eventsWaiting = false
    try {
      await this.#verify()
      const delivered = await this.#deliver()
      if (delivered || now >= this.#nextRefreshAt) {
        await this.#refresh()
        this.#nextRefreshAt = now + this.#options.refreshIntervalMs
      }
      this.#up = true
    } catch (err) {
      this.#up = false
      this.#report(err)
      return
    }
    this.#report()
  }

  async #tidy(): Promise<void> {
    const { journals, clock } = this.#options
    const now = performance.now()
    if (now >= this.#nextAdoptAt) {
      this.#nextAdoptAt = now + adoptIntervalMs
      await journals.adopt()
    }
    await journals.trim(clock())
  }

  /** Asks a store that may have lost events how many it has. */
  async #verify(): Promise<void> {
    const { store, journals, log } = this.#options
    const { generation } = store
    if (generation === this.#generation) return
    for (const journal of journals.all) {
      const applied = await store.applied(journal.id)
      const forgotten = journal.applied - applied
      if (forgotten > 0)
        log.warn(
          { journal: journal.id, forgotten },
          'download store lost events, those still on disk are counted again',
        )
      journal.applied = applied
    }
    this.#revision = 0
    this.#nextRefreshAt = 0
    this.#generation = generation
  }

  /** @returns whether there were events */
  async #deliver(): Promise<boolean> {
    const { journals, store, clock } = this.#options
    let delivered = false
    const turns = new Turns()
    for (const journal of journals.all) {
      for (;;) {
        const records = await journal.next(batchEvents)
        if (records.length === 0) break
        journal.applied = await store.apply(batchOf(journal.id, journal.applied, records, clock()))
        delivered = true
        await turns.yield()
      }
    }
    return delivered
  }

  async #refresh(): Promise<void> {
    const { store, sink } = this.#options
    const turns = new Turns()
    for (;;) {
      const { counts, revision } = await store.changes(this.#revision, pageSize)
      if (counts.length > 0) sink.setDownloads(counts)
      this.#revision = revision
      if (counts.length < pageSize) return
      await turns.yield()
    }
  }

  /** Logs changes, not every attempt. */
  #report(err?: unknown): void {
    const { log, store } = this.#options
    if (this.#up === this.#wasUp) return
    const where = { store: store.name }
    if (!this.#up)
      log.error({ ...where, err }, 'download store unavailable, events are queued on disk')
    else if (this.#wasUp === undefined) log.info(where, 'download counts loaded')
    else log.info(where, 'download store available again')
    this.#wasUp = this.#up
  }

  readonly #untilEvents = (wake: () => void) => {
    this.#wakeForEvents = wake
    return () => {
      this.#wakeForEvents = () => undefined
    }
  }
}

interface JournalsOptions {
  /** Contains a folder for each journal. */
  readonly dir: string
  readonly own: Journal
  /** Limit of bytes on disk, all journals together. */
  readonly maxBytes: number
  readonly onDropped: OnDropped
  /** Called with a journal that was taken over, and its number of events. */
  readonly onAdopted: (journal: string, events: number) => void
}

const dayMs = 86_400_000

/** How long applied events stay on disk, in milliseconds. A store that lost its latest state in a crash gets them again. */
const keepAppliedMs = 3_600_000

/** Stores forget a journal after 90 days. Older events might be counted already. */
const keepMs = 60 * dayMs

/** The journal of this process, and those of ended processes in the same folder. */
export class Journals {
  readonly #options: JournalsOptions
  #adopted: AdoptedJournal[] = []

  constructor(options: JournalsOptions) {
    this.#options = options
  }

  get own(): Journal {
    return this.#options.own
  }

  get all(): readonly (Journal | AdoptedJournal)[] {
    return [...this.#adopted, this.own]
  }

  get pending(): number {
    return this.all.reduce((sum, { pending }) => sum + pending, 0)
  }

  /** Time of the oldest pending event, in milliseconds since 1970. */
  get oldestAt(): number | undefined {
    const times = this.all.flatMap(({ oldestAt }) => oldestAt ?? [])
    return times.length === 0 ? undefined : Math.min(...times)
  }

  /** Takes over journals of ended processes. An unreadable folder is tried again the next time. */
  async adopt(): Promise<void> {
    const { dir, onDropped, onAdopted } = this.#options
    const mine = new Set(this.all.map(({ id }) => id))
    for (const name of await readdir(dir).catch(() => [])) {
      if (mine.has(name)) continue
      const journal = await AdoptedJournal.open(join(dir, name), onDropped).catch(() => undefined)
      if (journal === undefined) continue
      this.#adopted.push(journal)
      onAdopted(journal.id, journal.pending)
    }
  }

  /** Removes files that are no longer needed, and the oldest ones if there is too much. */
  async trim(now: number): Promise<void> {
    const before = { applied: now - keepAppliedMs, any: now - keepMs }
    for (const { segments, applied } of this.all) await segments.trim(applied, before)
    let sizeBytes = this.all.reduce((sum, { segments }) => sum + segments.sizeBytes, 0)
    for (const { segments, applied } of this.all) {
      while (sizeBytes > this.#options.maxBytes && !segments.isEmpty && !segments.isOldestOpen) {
        sizeBytes -= segments.sizeBytes
        await segments.dropOldest(applied, 'QueueFull')
        sizeBytes += segments.sizeBytes
      }
    }
    for (const journal of this.#adopted.filter(({ segments }) => segments.isEmpty)) {
      await journal.remove()
      this.#adopted = this.#adopted.filter((other) => other !== journal)
    }
  }

  async close(): Promise<void> {
    for (const journal of this.all) await journal.close()
  }
}

/** The journal of a process that has ended. */
class AdoptedJournal {
  readonly id: string
  applied = 0
  readonly segments: Segments
  readonly #folder: string
  readonly #lock: KernelLock

  private constructor(folder: string, lock: KernelLock, onDropped: OnDropped) {
    this.id = basename(folder)
    this.segments = new Segments(onDropped)
    this.#folder = folder
    this.#lock = lock
  }

  /** @returns undefined if the process is running, another one took the journal over, or it is empty */
  static async open(folder: string, onDropped: OnDropped): Promise<AdoptedJournal | undefined> {
    // A process that has just created its folder may not have locked it yet.
    if (!(await readdir(folder)).some((name) => name.endsWith('.log'))) return undefined
    const lock = KernelLock.take(folder, 'lock')
    if (lock === undefined) return undefined
    const journal = new AdoptedJournal(folder, lock, onDropped)
    try {
      const files = (await readdir(folder)).filter((name) => name.endsWith('.log')).toSorted()
      for (const file of files) await journal.segments.adopt(join(folder, file))
      return journal
    } catch (error) {
      lock.release()
      throw error
    }
  }

  get pending(): number {
    return this.segments.pending(this.applied)
  }

  get oldestAt(): number | undefined {
    return this.segments.oldestAt(this.applied)
  }

  next(limit: number): Promise<JournalRecord[]> {
    return this.segments.next(this.applied, limit)
  }

  /** Removes the folder, which must not contain segments any more. */
  async remove(): Promise<void> {
    this.#lock.remove()
    await rmdir(this.#folder).catch(() => undefined)
  }

  async close(): Promise<void> {
    this.#lock.release()
  }
}
