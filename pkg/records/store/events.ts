import { hash } from 'node:crypto'
import { messageOf, printable } from '../../base/errors/errors.ts'
import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import type { KubeClient } from '../kube/kube.ts'
import type { ObjectEvent } from './types.ts'

/** Interval in which the same event of an object is written once. */
const quietMs = 600_000
/** Maximum number of queued events, because an unreachable API server must not fill the memory. */
const maxWaiting = 1_000

/** Texts of upstreams and people, as long as API servers allow. */
export const noteOf = (text: string): string => printable(text, 1_024)

/** Decides which events are new. */
export class RecentEvents {
  readonly #recent: Bounded<true>
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
    this.#recent = new Bounded({ maxEntries: 10_000, clock })
  }

  /** Whether an event is new in the last ten minutes. Remembers it. */
  isNews({ object, type, reason, note }: ObjectEvent): boolean {
    const { namespace, name, uid } = object.metadata
    const id = hash(
      'sha256',
      JSON.stringify([object.kind, namespace, name, uid, type, reason, note]),
    )
    if (this.#recent.get(id)) return false
    this.#recent.set(id, true, this.#clock() + quietMs)
    return true
  }
}

interface EventRecorderOptions {
  readonly client: Pick<KubeClient, 'create'>
  /** API version of the objects in events. */
  readonly apiVersion: string
  /** Name of this replica. */
  readonly instance: string
  readonly log: Logger
  readonly clock: Clock
}

/** Writes Events into a cluster, one after the other. */
export class EventRecorder {
  readonly #options: EventRecorderOptions
  readonly #recent: RecentEvents
  readonly #stop = new AbortController()
  #waiting = 0
  #writing = Promise.resolve()

  constructor(options: EventRecorderOptions) {
    this.#options = options
    this.#recent = new RecentEvents(options.clock)
  }

  record(event: ObjectEvent): void {
    if (this.#stop.signal.aborted || !this.#recent.isNews(event)) return
    if (this.#waiting >= maxWaiting) return
    this.#waiting += 1
    this.#writing = this.#writing.then(() => this.#write(event))
  }

  /** Drops unwritten events after a moment. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#stop.abort(), 1_000)
    for (let last; last !== this.#writing; ) {
      last = this.#writing
      await last
    }
    clearTimeout(timer)
    this.#stop.abort()
  }

  async #write({ object, type, reason, note }: ObjectEvent): Promise<void> {
    this.#waiting -= 1
    if (this.#stop.signal.aborted) return
    const { client, apiVersion, instance, log, clock } = this.#options
    const { kind, metadata } = object
    const { namespace, name, uid, resourceVersion } = metadata
    const nowMs = clock()
    const suffix = hash('sha256', `${uid} ${reason} ${note} ${nowMs}`).slice(0, 16)
    try {
      await client.create(
        {
          kind: 'Event',
          metadata: { namespace, name: `${name.slice(0, 200)}.${suffix}` },
          eventTime: new Date(nowMs).toISOString().replace('Z', '000Z'),
          reportingController: 'depot-controller',
          reportingInstance: instance.slice(0, 128),
          action: 'Sync',
          type,
          reason,
          note: noteOf(note),
          regarding: { apiVersion, kind, namespace, name, uid, resourceVersion },
        },
        { signal: this.#stop.signal },
      )
    } catch (error) {
      log.debug({ kind, namespace, name, reason, error: messageOf(error) }, 'event not written')
    }
  }
}
