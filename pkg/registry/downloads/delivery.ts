import { Backoff, type Clock, pause, Turns } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { batchOf, type CountedDownload, type CountStore } from './event.ts'
import type { Journals } from './journals.ts'

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
    this.#options.journals.announceTo(() => this.#announce())
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
