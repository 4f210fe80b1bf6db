import { ifFound, messageOf } from '../../base/errors/errors.ts'
import { pause } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Logger, type Metrics } from '../../base/telemetry/telemetry.ts'
import { ApiError, type KubeClient, type ObservedObject } from '../kube/kube.ts'

interface ElectionOptions {
  readonly client: KubeClient
  readonly namespace: string
  /** Name of the Lease. */
  readonly name: string
  /** Identity of this replica, a new one for each start. */
  readonly identity: string
  /**
   * Called each time the lease was won. The signal aborts when the lease is lost or released. Then work has to end, and every
   * write through `guard` is refused.
   */
  readonly onHeld: (signal: AbortSignal) => void
  readonly log: Logger
  readonly metrics: Metrics
  /**
   * How long others wait for a silent holder, how long a holder continues without a renewal, and how often it renews. Default:
   * 15 s, 10 s and 2 s.
   */
  readonly timings?: {
    readonly leaseMs: number
    readonly renewMs: number
    readonly retryMs: number
  }
}

const defaults = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2_000 }

/** The lease as it was seen last, and when it changed, on the clock of `performance.now()`. */
interface Sighting {
  readonly record: LeaseRecord
  readonly changedMs: number
}

/**
 * Holds a Lease, or waits for it. Clocks of replicas are never compared. The lease of another replica has expired when it did
 * not change for its duration on this replica's clock. This replica's lease has expired when its last renewal began longer ago
 * than the renew deadline, which is shorter. So it stops before another one can start, even after it was paused.
 */
export class LeaseElection {
  readonly #options: ElectionOptions
  readonly #timings: typeof defaults
  readonly #metrics: ReturnType<typeof createLeaseMetrics>
  readonly #stop = new AbortController()
  #seen: Sighting | undefined
  #renewedMs = Number.NEGATIVE_INFINITY
  #work: AbortController | undefined
  #deadline: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  /** The error that was logged last, because the same one is not worth a line every two seconds. */
  #reported = ''

  constructor(options: ElectionOptions) {
    this.#options = options
    this.#timings = { ...defaults, ...options.timings }
    this.#metrics = createLeaseMetrics(options.metrics, () => this.held())
  }

  /** Whether this replica may write now. */
  held(): boolean {
    const isFresh = performance.now() - this.#renewedMs < this.#timings.renewMs
    return this.#work !== undefined && !this.#work.signal.aborted && isFresh
  }

  /** The client. Its writes throw ApiError NotHeld while the lease is not held. */
  guard(client: KubeClient): KubeClient {
    return guarded(client, () => this.held())
  }

  /** Waits for the lease from now on, and renews it while it is held. */
  start(): void {
    this.#running ??= this.#run()
  }

  /** Releases the lease, so that another replica need not wait for its expiry. */
  async release(): Promise<void> {
    this.#stop.abort()
    await this.#running
    this.#lose('the lease is given up')
    const signal = AbortSignal.timeout(this.#timings.retryMs)
    try {
      const record = await this.#look(signal)
      if (record?.holder === this.#options.identity) await this.#write(record, '', signal)
    } catch (error) {
      const { log } = this.#options
      log.warn({ error: messageOf(error) }, 'lease could not be given up, it runs out by itself')
    }
  }

  async #run(): Promise<void> {
    const { retryMs, renewMs } = this.#timings
    const { signal } = this.#stop
    while (!signal.aborted) {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(renewMs)])
      await this.#tryOnce(limit)
      // Jitter, so that waiting replicas do not return at the same moment.
      await pause(retryMs * (this.held() ? 1 : 1 + Math.random() * 0.2), signal)
    }
  }

  async #tryOnce(signal: AbortSignal): Promise<void> {
    const { identity, log } = this.#options
    const beganMs = performance.now()
    try {
      const record = await this.#look(signal)
      if (record !== undefined && record.holder !== identity && !this.#hasRunOut(record)) {
        this.#lose('another replica has the lease')
        return
      }
      // An expired lease is won again as if it were another's, because the work under it was stopped.
      if (!this.held()) this.#lose('the lease ran out')
      await this.#write(record, identity, signal)
      this.#won(beganMs)
    } catch (error) {
      const isRace =
        error instanceof ApiError && ['Conflict', 'AlreadyExists'].includes(error.reason)
      if (this.#stop.signal.aborted) return
      const message = messageOf(error)
      const level = isRace || message === this.#reported ? 'debug' : 'warn'
      this.#reported = isRace ? this.#reported : message
      log[level]({ error: message, held: this.held() }, 'lease could not be renewed or taken')
    }
  }

  async #look(signal: AbortSignal): Promise<LeaseRecord | undefined> {
    const { client, namespace, name } = this.#options
    const found = await ifFound(client.get({ kind: 'Lease', namespace, name }, { signal }))
    if (found === undefined) return undefined
    const record = recordOf(found)
    if (this.#seen?.record.resourceVersion !== record.resourceVersion) {
      this.#seen = { record, changedMs: performance.now() }
    }
    return record
  }

  #hasRunOut(record: LeaseRecord): boolean {
    if (record.holder === '') return true
    const sinceMs = performance.now() - (this.#seen?.changedMs ?? performance.now())
    return sinceMs > record.durationMs
  }

  /** @param holder empty to release it */
  async #write(
    record: LeaseRecord | undefined,
    holder: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { client, namespace, name } = this.#options
    const nowMs = Date.now()
    const isNew = record?.holder !== holder
    const spec = {
      holderIdentity: holder,
      leaseDurationSeconds: holder === '' ? 1 : this.#timings.leaseMs / 1000,
      renewTime: microTime(nowMs),
      acquireTime: isNew ? microTime(nowMs) : record?.acquireTime,
      leaseTransitions: (record?.transitions ?? 0) + (isNew && holder !== '' ? 1 : 0),
    }
    const written =
      record === undefined
        ? await client.create({ kind: 'Lease', metadata: { namespace, name }, spec }, { signal })
        : await client.patch(
            { kind: 'Lease', namespace, name },
            { spec },
            { signal, resourceVersion: record.resourceVersion },
          )
    this.#seen = { record: recordOf(written), changedMs: performance.now() }
  }

  #won(beganMs: number): void {
    this.#renewedMs = beganMs
    this.#reported = ''
    clearTimeout(this.#deadline)
    const leftMs = this.#timings.renewMs - (performance.now() - beganMs)
    this.#deadline = setTimeout(() => this.#lose('the lease ran out'), Math.max(0, leftMs))
    if (this.#work !== undefined || leftMs <= 0) return
    this.#work = new AbortController()
    this.#options.log.info({ identity: this.#options.identity }, 'lease taken')
    this.#options.onHeld(this.#work.signal)
  }

  #lose(why: string): void {
    clearTimeout(this.#deadline)
    const work = this.#work
    if (work === undefined) return
    this.#work = undefined
    if (!this.#stop.signal.aborted) {
      this.#metrics.losses.inc()
      this.#options.log.warn({ why }, 'lease lost, work is stopped')
    }
    work.abort(new ApiError('NotHeld', why))
  }
}

function createLeaseMetrics(metrics: Metrics, held: () => boolean) {
  gauge(metrics, {
    name: 'lease_held',
    help: '1 while this replica holds the Lease, so that it may write.',
    collect: (it) => it.set(held() ? 1 : 0),
  })
  return {
    losses: counter(metrics, {
      name: 'lease_losses_total',
      help: 'How often the lease could not be renewed in time, or was taken by another replica.',
    }),
  }
}

/** The spec of a Lease (coordination.k8s.io/v1). */
interface LeaseRecord {
  readonly resourceVersion: string
  /** Empty if it is not held. */
  readonly holder: string
  readonly durationMs: number
  readonly transitions: number
  readonly acquireTime: string
}

function recordOf(lease: ObservedObject): LeaseRecord {
  const { spec } = lease as { spec?: Readonly<Record<string, unknown>> }
  const text = (field: string) => {
    const value = spec?.[field]
    return typeof value === 'string' ? value : ''
  }
  const number = (field: string, otherwise: number) => {
    const value = spec?.[field]
    return typeof value === 'number' && value > 0 ? value : otherwise
  }
  return {
    resourceVersion: lease.metadata.resourceVersion,
    holder: text('holderIdentity'),
    durationMs: number('leaseDurationSeconds', 15) * 1000,
    transitions: number('leaseTransitions', 0),
    acquireTime: text('acquireTime'),
  }
}

/** Kubernetes writes microseconds. */
export function microTime(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z')
}

/**
 * A client whose writes are refused while a lease is not held, even if it is lost between the call and the first byte. Credentials,
 * connections and paused processes can delay that byte. Reads are always allowed.
 */
export function guarded(client: KubeClient, held: () => boolean): KubeClient {
  const write = async <T>(call: (given: { mayBegin: () => boolean }) => Promise<T>): Promise<T> => {
    if (!held()) throw notHeld()
    let isRefused = false
    const mayBegin = (): boolean => {
      isRefused = !held()
      return !isRefused
    }
    try {
      return await call({ mayBegin })
    } catch (error) {
      throw isRefused ? notHeld(error) : error
    }
  }
  return {
    get: (...asked) => client.get(...asked),
    create: (object, options) => write((more) => client.create(object, { ...options, ...more })),
    apply: (object, manager, options) =>
      write((more) => client.apply(object, manager, { ...options, ...more })),
    patch: (ref, patch, options) =>
      write((more) => client.patch(ref, patch, { ...options, ...more })),
    writeStatus: (ref, status, options) =>
      write((more) => client.writeStatus(ref, status, { ...options, ...more })),
    delete: (ref, options) => write((more) => client.delete(ref, { ...options, ...more })),
  }
}

const notHeld = (cause?: unknown): ApiError =>
  new ApiError('NotHeld', 'this replica does not hold the lease, another one may write now', {
    cause,
  })
