/**
 * Outbound events: tells another system by HTTP that a version is served, withdrawn, held back or has new CRITICAL findings. The
 * events of the last day follow from statuses, and one note has those that were delivered. So a process that goes on
 * after another one misses none.
 */

import { createHmac } from 'node:crypto'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import { counter, type Logger, type Metrics, oncePer } from '../../base/telemetry/telemetry.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { type Egress, refusalText } from '../egress/egress.ts'
import { Queue, type Timers } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import { eventNote, msOf } from '../sync/sync.ts'
import { eventsOf, heldEventsOf, type VersionEvent } from './version-events.ts'

interface EventsOptions {
  readonly objects: Pick<Objects, 'list' | 'onChange' | 'notes'>
  readonly egress: Pick<Egress, 'request'>
  readonly url: string
  /** Signs every event. */
  readonly key: string
  readonly apiGroup: string
  readonly log: Logger
  readonly metrics: Metrics
  readonly clock: Clock
  /** Default: the timers of the process. */
  readonly timers?: Timers
}

/** Maximum age of an event that is still delivered. */
const keptMs = 24 * 60 * 60_000
/** Maximum number of events that wait in memory; more are found again when these are delivered. */
const maxWaiting = 10_000
/** Maximum number of delivered events that are remembered: about half of what one note may have. */
const maxDelivered = 20_000
const deadlineMs = 10_000
const notingMs = 1_000
const lookingMs = 60_000

const metricsOf = oncePer((metrics) =>
  counter(metrics, {
    name: 'events_total',
    help: 'Events for the webhook, by type and by result of each attempt.',
    labels: ['type', 'result'],
  }),
)

/** Delivered events, as in the note. */
interface Delivered {
  /** Earlier events are not delivered: in milliseconds since 1970. */
  sinceMs: number
  /** Times of delivered events by their ids. */
  readonly ids: Map<string, number>
}

/** Delivers events until it is stopped. */
export async function startEvents(options: EventsOptions): Promise<{ stop(): Promise<void> }> {
  const { objects, clock } = options
  const note = (await objects.notes.all()).get(eventNote)
  const delivered =
    note === undefined ? { sinceMs: secondOf(clock()), ids: new Map() } : readNote(note)
  const delivery = new EventDelivery(options, delivered)
  delivery.start({ writesNote: note === undefined })
  return delivery
}

class EventDelivery {
  readonly #options: EventsOptions
  readonly #log: Logger
  readonly #total: ReturnType<typeof metricsOf>
  readonly #delivered: Delivered
  /** Events that are not delivered yet, by id. */
  readonly #waiting = new Map<string, VersionEvent>()
  readonly #queue: Queue
  readonly #noting = new Loop(() => this.#note())
  /** Finds events beyond the bound, and those of statuses that were written by nobody's watch. */
  readonly #looking = new Loop(() => this.#lookAtAll())
  #forget: () => void = () => undefined

  constructor(options: EventsOptions, delivered: Delivered) {
    const { metrics, timers } = options
    this.#options = options
    this.#log = options.log.child({ component: 'events' })
    this.#total = metricsOf(metrics)
    this.#delivered = delivered
    this.#queue = new Queue({
      kind: 'Event',
      workers: 2,
      reconcile: (id, signal) => this.#deliver(id, signal),
      log: this.#log,
      metrics,
      ...(timers && { timers }),
    })
  }

  start({ writesNote }: { readonly writesNote: boolean }): void {
    this.#forget = this.#options.objects.onChange((ref, _, after) => {
      if (ref.kind === 'Version' && after !== undefined) this.#look(after)
    })
    if (writesNote) this.#noting.schedule(0)
    this.#looking.schedule(0)
    this.#queue.start()
  }

  async stop(): Promise<void> {
    this.#forget()
    await this.#looking.close()
    await this.#queue.stop()
    await this.#noting.close()
    if (this.#delivered.ids.size > 0) await this.#writeNote().catch(() => undefined)
  }

  async #lookAtAll(): Promise<number> {
    for (const kind of ['Version', 'Module', 'Provider'] as const) {
      for (const object of this.#options.objects.list(kind)) this.#look(object)
    }
    return lookingMs
  }

  /** Queues the events of an object that are not delivered. */
  #look(object: StoredObject): void {
    const nowMs = this.#options.clock()
    const leastMs = Math.max(this.#delivered.sinceMs, nowMs - keptMs)
    const events = object.kind === 'Version' ? eventsOf(object) : heldEventsOf(object, nowMs)
    for (const event of events) {
      const { id, atMs } = event
      if (this.#waiting.size >= maxWaiting) return
      if (atMs < leastMs || this.#delivered.ids.has(id) || this.#waiting.has(id)) continue
      this.#waiting.set(id, event)
      this.#queue.add(id, 'user')
    }
  }

  async #deliver(id: string, signal: AbortSignal): Promise<void> {
    const event = this.#waiting.get(id)
    if (event === undefined) return
    const { type, atMs, subject } = event
    const nowMs = this.#options.clock()
    if (atMs < nowMs - keptMs) {
      this.#waiting.delete(id)
      this.#total.inc({ type, result: 'dropped' })
      this.#log.warn({ id, type, subject }, 'event not delivered within a day')
      return
    }
    try {
      await send(this.#options, event, nowMs, signal)
    } catch (error) {
      if (!signal.aborted) this.#total.inc({ type, result: 'failed' })
      throw error
    }
    this.#waiting.delete(id)
    this.#total.inc({ type, result: 'delivered' })
    this.#delivered.ids.set(id, atMs)
    this.#noting.schedule(notingMs)
  }

  async #note(): Promise<number> {
    forgetOld(this.#delivered, this.#options.clock())
    await this.#writeNote().catch((err: unknown) => {
      this.#log.warn({ err }, 'delivered events cannot be recorded, so they may be delivered again')
      this.#noting.schedule(lookingMs)
    })
    return Number.POSITIVE_INFINITY
  }

  #writeNote(): Promise<void> {
    return this.#options.objects.notes.put(eventNote, noteOf(this.#delivered))
  }
}

/** Signs as https://www.standardwebhooks.com says. @throws FillError if the receiver did not accept it */
async function send(
  { egress, url, key, apiGroup }: EventsOptions,
  { id, type, atMs, subject, data }: VersionEvent,
  nowMs: number,
  signal: AbortSignal,
): Promise<void> {
  const body = JSON.stringify({
    specversion: '1.0',
    id,
    source: `urn:depot:${apiGroup}`,
    type,
    subject,
    time: new Date(atMs).toISOString(),
    datacontenttype: 'application/json',
    data,
  })
  const timestamp = String(Math.floor(nowMs / 1000))
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')
  const answer = await egress.request(url, {
    method: 'POST',
    namedByOperator: true,
    headers: {
      'content-type': 'application/cloudevents+json; charset=utf-8',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac}`,
    },
    body,
    maxBytes: 64 * 1024,
    deadlineMs,
    urgent: true,
    signal,
  })
  if (answer.status >= 200 && answer.status < 300) return
  throw new FillError('BadStatus', refusalText(answer.url, answer.status, answer.body))
}

/** Times of statuses are whole seconds. */
const secondOf = (ms: number): number => Math.floor(ms / 1000) * 1000

/** Forgets events that are too old to be delivered again. */
function forgetOld(delivered: Delivered, nowMs: number): void {
  const { ids } = delivered
  delivered.sinceMs = Math.max(delivered.sinceMs, nowMs - keptMs)
  const oldest = [...ids].toSorted(([, a], [, b]) => a - b)
  const excess = oldest.length - maxDelivered
  if (excess > 0) delivered.sinceMs = Math.max(delivered.sinceMs, (oldest[excess]?.[1] ?? 0) + 1)
  for (const [id, atMs] of oldest) if (atMs < delivered.sinceMs) ids.delete(id)
}

const noteOf = ({ sinceMs, ids }: Delivered): string =>
  JSON.stringify({ since: new Date(sinceMs).toISOString(), delivered: Object.fromEntries(ids) })

/** A note that cannot be read counts as none: events of the last day are delivered again. */
function readNote(text: string): Delivered {
  try {
    const { since, delivered } = JSON.parse(text) as { since: string; delivered: object }
    const ids = Object.entries(delivered).map(([id, atMs]) => [id, Number(atMs)] as const)
    return { sinceMs: msOf(since) ?? 0, ids: new Map(ids) }
  } catch {
    return { sinceMs: 0, ids: new Map() }
  }
}
