import { Backoff, pause } from '../pacing/pacing.ts'
import type { Logger } from '../telemetry/telemetry.ts'
import { Ending } from './ending.ts'
import type { Intake, Replacement } from './intake.ts'
import { list } from './list.ts'
import type { Meters } from './meters.ts'
import { isOlder } from './object.ts'
import type { Target } from './target.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'
import { type WatchEvent, watch } from './watch.ts'

export interface ReflectorOptions {
  readonly target: Target
  readonly intake: Intake
  readonly transport: Transport
  readonly timings: Timings
  readonly log: Logger
  readonly meters: Meters
  /** Milliseconds since 1970. */
  readonly clock: () => number
  /** From 0 up to, and without, 1. */
  readonly random: () => number
}

/** Every how many failed starts the list is read in pages instead of streamed. */
const pagesEvery = 3

/**
 * Keeps an intake equal to what the API server has of one resource: everything at first, then every change, for ever.
 * What it knows is a resourceVersion; as long as that one is good, a broken connection costs no more than a new watch.
 */
export class Reflector {
  readonly #options: ReflectorOptions
  readonly #retry: Backoff
  readonly #relist: Backoff
  readonly #synced = Promise.withResolvers<void>()
  #isSynced = false
  #resourceVersion = ''
  #replacement: Replacement | undefined
  #listStartedMs = 0
  #streams = true
  #failedStarts = 0
  /** What it does, or did last. */
  #verb: 'list' | 'watch' = 'watch'
  /** Endings since the last event, of the sort that asks for everything anew when it repeats. */
  #strikes = 0
  #failures = 0
  #lastRelistMs = Number.NEGATIVE_INFINITY
  #listedMs = 0
  #lastContactMs = 0
  #bytesReadMs = 0

  constructor(options: ReflectorOptions) {
    this.#options = options
    const { timings, random } = options
    const { backoffMs: firstMs, backoffCapMs: capMs } = timings
    this.#retry = new Backoff({ firstMs, capMs, jitter: 'full', random })
    this.#relist = new Backoff({ firstMs, capMs, jitter: 'full', random })
  }

  get target(): Target {
    return this.#options.target
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Resolves once everything has been read for the first time. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** When bytes came last, in milliseconds since 1970; 0: never. */
  get lastContactMs(): number {
    return this.#lastContactMs
  }

  /** Runs until the signal says stop; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { transport } = this.#options
    while (!signal.aborted) {
      const ending = await this.#step(signal)
      if (ending === undefined || signal.aborted) continue
      const { reason } = ending
      const wasAway = reason === 'network' || reason === 'deadline'
      await pause(this.#digest(ending), signal, wasAway ? transport.onReached : undefined)
    }
  }

  async #step(signal: AbortSignal): Promise<Ending | undefined> {
    try {
      this.#verb = 'watch'
      if (this.#resourceVersion !== '') return await this.#watch(signal, this.#resourceVersion)
      this.#listStartedMs = this.#options.clock()
      this.#replacement = this.#options.intake.begin()
      const streamed = this.#streams && this.#failedStarts % pagesEvery !== pagesEvery - 1
      if (!streamed) this.#verb = 'list'
      return await (streamed ? this.#watch(signal, undefined) : this.#list(signal))
    } catch (err) {
      return new Ending('internal', 'a mistake in the reflector', { err })
    } finally {
      this.#replacement = undefined
    }
  }

  async #list(signal: AbortSignal): Promise<Ending | undefined> {
    const replacement = this.#replacement
    const listed = await list({
      ...this.#options,
      signal,
      onContact: this.#onContact,
      onItem: (object) => replacement?.add(object),
    })
    if (listed instanceof Ending) return listed
    this.#commit(listed.resourceVersion)
    return undefined
  }

  #watch(signal: AbortSignal, resourceVersion: string | undefined): Promise<Ending> {
    return watch({
      ...this.#options,
      signal,
      resourceVersion,
      onContact: this.#onContact,
      onEvent: this.#onEvent,
    })
  }

  readonly #onContact = (): void => {
    this.#lastContactMs = this.#options.clock()
    this.#bytesReadMs = performance.now()
  }

  readonly #onEvent = (event: WatchEvent): Ending | undefined => {
    try {
      return this.#receive(event)
    } catch (err) {
      return new Ending('internal', 'a mistake in taking a change in', { err })
    }
  }

  #receive(event: WatchEvent): Ending | undefined {
    if (this.#replacement !== undefined) return this.#onInitialEvent(event, this.#replacement)
    const resourceVersion =
      event.type === 'BOOKMARK' ? event.resourceVersion : event.object.metadata.resourceVersion
    if (isOlder(resourceVersion, this.#resourceVersion)) {
      const step = `from ${this.#resourceVersion} to ${resourceVersion}`
      return new Ending('backwards', `the resourceVersion went back ${step}`)
    }
    if (event.type !== 'BOOKMARK') this.#take(event)
    this.#resourceVersion = resourceVersion
    this.#progress()
    return undefined
  }

  #take({ type, object }: Exclude<WatchEvent, { type: 'BOOKMARK' }>): void {
    const { intake, meters, target } = this.#options
    if (type === 'DELETED') intake.remove(object)
    else intake.put(object)
    const lagMs = performance.now() - this.#bytesReadMs
    meters.changeLag.observe({ kind: target.kind }, lagMs / 1000)
  }

  /** Initial events come in no order; only the bookmark after the last one says where to go on. */
  #onInitialEvent(event: WatchEvent, replacement: Replacement): undefined {
    if (event.type === 'DELETED') this.#options.intake.remove(event.object)
    else if (event.type !== 'BOOKMARK') replacement.add(event.object)
    else if (event.initialEventsEnd) this.#commit(event.resourceVersion)
  }

  #commit(resourceVersion: string): void {
    const { target, clock, meters, log } = this.#options
    this.#replacement?.commit()
    this.#replacement = undefined
    this.#resourceVersion = resourceVersion
    this.#failedStarts = 0
    this.#listedMs = clock()
    const durationMs = this.#listedMs - this.#listStartedMs
    meters.syncDuration.observe({ kind: target.kind }, durationMs / 1000)
    log.info({ kind: target.kind, resourceVersion, durationMs }, 'resources listed')
    this.#progress()
    this.#markSynced()
  }

  #markSynced(): void {
    this.#isSynced = true
    this.#synced.resolve()
  }

  #progress(): void {
    this.#strikes = 0
    this.#retry.reset()
    if (this.#failures === 0) return
    const { target, log } = this.#options
    log.info({ kind: target.kind, failures: this.#failures }, 'watch recovered')
    this.#failures = 0
  }

  /** @returns how long to wait */
  #digest(ending: Ending): number {
    const { target, transport, meters } = this.#options
    const { reason } = ending
    meters.restarts.inc({ kind: target.kind, reason })
    if (ending.flaw) meters.decodeErrors.inc({ kind: target.kind, reason: ending.flaw })
    if (reason === 'unauthorized') transport.reload()
    const starting = this.#resourceVersion === ''
    if (starting && reason === 'invalid' && this.#streams) {
      this.#streams = false
      this.#report(ending, 0)
      return 0
    }
    if (starting) this.#failedStarts += 1
    if (reason === 'missing' && target.optional === true) this.#markSynced()
    const relist = !starting && this.#asksForRelist(ending)
    if (relist) {
      this.#resourceVersion = ''
      meters.relists.inc({ kind: target.kind, reason })
    }
    const delayMs = ending.wait || relist ? this.#waitMs(ending, relist) : 0
    this.#report(ending, delayMs)
    return delayMs
  }

  #asksForRelist({ relist }: Ending): boolean {
    if (relist === 'repeated') this.#strikes += 1
    return relist === 'always' || this.#strikes >= 3
  }

  #waitMs({ reason, retryAfterMs }: Ending, relist: boolean): number {
    const { clock, random, timings } = this.#options
    // The server knows best; a little later than it says, so that not everybody comes at once.
    if (retryAfterMs > 0) {
      return Math.min(retryAfterMs, timings.retryAfterCapMs) + random() * timings.backoffMs
    }
    if (!relist) return this.#retry.nextMs()
    // Each restart of an API server makes watches expire; that is no reason to become slower each time.
    const forgetMs = reason === 'expired' ? timings.shortWatchMs : timings.backoffForgetMs
    const lastMs = reason === 'expired' ? this.#listedMs : this.#lastRelistMs
    if (clock() - lastMs > forgetMs) this.#relist.reset()
    this.#lastRelistMs = clock()
    return this.#relist.nextMs()
  }

  #report(ending: Ending, delayMs: number): void {
    const { target, transport, log } = this.#options
    const { kind, resource, namespace } = target
    const { reason, message, err } = ending
    const event = { kind, reason, message, delayMs, ...(err !== undefined && { err }) }
    if (!ending.wait) {
      log.debug(event, 'watch ended')
      return
    }
    this.#failures += 1
    if (reason === 'unauthorized' || reason === 'forbidden') {
      const { identity } = transport
      log.error({ ...event, verb: this.#verb, resource, namespace, identity }, 'permission missing')
    } else if (reason === 'missing') {
      const remedy = 'kubectl apply --server-side -k config/crd'
      log.error({ ...event, resource, remedy }, 'custom resource definition missing')
    } else {
      log.warn(event, 'watch failed')
    }
  }
}
