/**
 * Outbound events: tells another system by HTTP that a version is served, withdrawn, held back or has new CRITICAL findings. The
 * events of the last day follow from statuses, and one note has those that were delivered. So a process that goes on
 * after another one misses none.
 */

import { createHmac } from 'node:crypto'
import { type Clock, Loop } from '../../base/pacing/pacing.ts'
import { counter, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import type { Objects, StoredObject } from '../../records/store/store.ts'
import { type Egress, refusalText } from '../egress/egress.ts'
import { Queue, type Timers } from '../queue/queue.ts'
import { FillError } from '../sources/sources.ts'
import { eventNote, msOf } from '../sync/sync.ts'
import { heldEventsOf } from './held-events.ts'
import { eventsOf, type VersionEvent } from './version-events.ts'

export interface EventsOptions {
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

/** An event is delivered within a day, or not any more. */
const keptMs = 24 * 60 * 60_000
/** Maximum number of events that wait in memory; more are found again when these are delivered. */
const maxWaiting = 10_000
/** Maximum number of delivered events that are remembered: about half of what one note may have. */
const maxDelivered = 20_000
const deadlineMs = 10_000
const notingMs = 1_000
const lookingMs = 60_000

/** A process has one set of metrics, and delivers each time that it becomes leader. */
const known = new WeakMap<Metrics, ReturnType<typeof metricsOf>>()
const metricsOf = (metrics: Metrics) =>
  counter(metrics, {
    name: 'events_total',
    help: 'Events for the webhook, by type and by result of each attempt.',
    labels: ['type', 'result'],
  })

/** Delivered events, as in the note. */
interface Delivered {
  /** Earlier events are not delivered: in milliseconds since 1970. */
  sinceMs: number
  /** Times of delivered events by their ids. */
  readonly ids: Map<string, number>
}

/** Delivers events until it is stopped. */
export async function startEvents(options: EventsOptions): Promise<{ stop(): Promise<void> }> {
  const { objects, metrics, clock, timers } = options
  const log = options.log.child({ component: 'events' })
  const total = known.get(metrics) ?? metricsOf(metrics)
  known.set(metrics, total)
  const text = (await objects.notes.all()).get(eventNote)
  const delivered =
    text === undefined ? { sinceMs: secondOf(clock()), ids: new Map() } : readNote(text)
  const waiting = new Map<string, VersionEvent>()
  const queue = new Queue({
    kind: 'Event',
    workers: 2,
    reconcile: async (id, signal) => {
      const event = waiting.get(id)
      if (event === undefined) return
      const { type, atMs } = event
      if (atMs < clock() - keptMs) {
        waiting.delete(id)
        total.inc({ type, result: 'dropped' })
        log.warn({ id, type, subject: event.subject }, 'event not delivered within a day')
        return
      }
      try {
        await send(options, event, clock(), signal)
      } catch (error) {
        if (!signal.aborted) total.inc({ type, result: 'failed' })
        throw error
      }
      waiting.delete(id)
      total.inc({ type, result: 'delivered' })
      delivered.ids.set(id, atMs)
      noting.schedule(notingMs)
    },
    log,
    metrics,
    ...(timers && { timers }),
  })
  const noting = new Loop(async () => {
    forgetOld(delivered, clock())
    await objects.notes.put(eventNote, noteOf(delivered)).catch((err: unknown) => {
      log.warn({ err }, 'delivered events are not written down, and may be delivered again')
      noting.schedule(lookingMs)
    })
    return Number.POSITIVE_INFINITY
  })
  const look = (object: StoredObject): void => {
    const nowMs = clock()
    const leastMs = Math.max(delivered.sinceMs, nowMs - keptMs)
    const events = object.kind === 'Version' ? eventsOf(object) : heldEventsOf(object, nowMs)
    for (const event of events) {
      const { id, atMs } = event
      if (waiting.size >= maxWaiting) return
      if (atMs < leastMs || delivered.ids.has(id) || waiting.has(id)) continue
      waiting.set(id, event)
      queue.add(id, 'user')
    }
  }
  // Events beyond the bound, and those of statuses that were written by nobody's watch.
  const looking = new Loop(async () => {
    for (const kind of ['Version', 'Module', 'Provider'] as const) {
      for (const object of objects.list(kind)) look(object)
    }
    return lookingMs
  })
  const forget = objects.onChange((ref, _, after) => {
    if (ref.kind === 'Version' && after !== undefined) look(after)
  })
  if (text === undefined) noting.schedule(0)
  looking.schedule(0)
  queue.start()
  return {
    async stop() {
      forget()
      await looking.close()
      await queue.stop()
      await noting.close()
      if (delivered.ids.size > 0)
        await objects.notes.put(eventNote, noteOf(delivered)).catch(() => undefined)
    },
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

/** Forgets what nobody would deliver again. */
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
