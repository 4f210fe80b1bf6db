import type { JsonReader } from '../../api/v1alpha1/v1alpha1.ts'
import { type Clock, pause, type Random } from '../../base/pacing/pacing.ts'
import type { Logger } from '../../base/telemetry/telemetry.ts'
import { isOlder, type ListTarget, list, type WatchEvent, watch } from './list-watch.ts'
import type { WatchMetrics } from './metrics.ts'
import { Outcome } from './outcome.ts'
import {
  afterList,
  afterProgress,
  isSilent,
  nextList,
  type RecoveryState,
  recover,
  untried,
} from './recovery.ts'
import type { KindReplacement, Store } from './store.ts'
import type { Timings } from './timings.ts'
import type { Transport } from './transport.ts'

export interface ReflectorOptions {
  readonly target: ListTarget
  readonly store: Store
  readonly transport: Transport
  readonly timings: Timings
  readonly json: JsonReader
  readonly log: Logger
  readonly meters: WatchMetrics
  readonly clock: Clock
  readonly random: Random
}

type Step = 'list' | 'stream' | 'compare' | 'watch'

/** Maximum number of objects in a log line. */
const maxNames = 10

/**
 * Keeps a store equal to a resource of the API server: everything at first, then every change, until it is stopped. It
 * remembers a resourceVersion. As long as that is valid, a broken connection costs one new watch.
 */
export class Reflector {
  readonly #options: ReflectorOptions
  readonly #synced = Promise.withResolvers<void>()
  #isSynced = false
  /** Start of the next watch; empty if a list is due. */
  #resourceVersion = ''
  /** The stored objects may have another history, so the next list replaces even what looks newer. */
  #rewound = false
  /** A watch ended too early, so its last changes may be lost. */
  #uncertain = false
  /** The last list or comparison, on the clock of `performance.now()`. */
  #comparedMs = 0
  /** Duration of the last comparison. */
  #comparingMs = 0
  #recovery: RecoveryState = untried
  #failures = 0
  /** The last message about what is out of date. */
  #toldStale = ''
  #lastContactMs = 0
  /** On the clock of `performance.now()`. */
  #bytesReadMs = 0

  constructor(options: ReflectorOptions) {
    this.#options = options
  }

  get isSynced(): boolean {
    return this.#isSynced
  }

  /** Resolves once everything was read for the first time. */
  get synced(): Promise<void> {
    return this.#synced.promise
  }

  /** When the last bytes arrived, in milliseconds since 1970; 0 if none have. */
  get lastContactMs(): number {
    return this.#lastContactMs
  }

  /** Whether changes may be missing: the API server was silent for long, or watches deliver nothing. */
  get isStale(): boolean {
    const { clock, timings } = this.#options
    if (!this.#isSynced || this.#lastContactMs === 0) return false
    return isSilent(this.#recovery) || clock() - this.#lastContactMs > 2 * timings.idleMs
  }

  /** Runs until the signal aborts; never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { transport } = this.#options
    while (!signal.aborted) {
      const step = this.#nextStep()
      const startedMs = performance.now()
      const outcome = await this.#take(step, signal)
      if (signal.aborted) return
      if (outcome === undefined) {
        // The connection of that answer is free for the next request only after this.
        await pause(0, signal)
        continue
      }
      this.#uncertain ||= outcome.reason !== 'StreamClosed'
      const verb = step === 'watch' || step === 'stream' ? 'watch' : 'list'
      const delayMs = this.#recover(outcome, verb, this.#bytesReadMs < startedMs)
      const wasUnreachable = outcome.reason === 'Unreachable' || outcome.reason === 'Timeout'
      await pause(delayMs, signal, wasUnreachable ? transport.onReached : undefined)
    }
  }

  #nextStep(): Step {
    if (this.#resourceVersion === '') {
      return nextList(this.#recovery) === 'stream' ? 'stream' : 'list'
    }
    const { compareMs, comparingShare } = this.#options.timings
    const sinceMs = performance.now() - this.#comparedMs
    const isDue = this.#uncertain && sinceMs * comparingShare >= this.#comparingMs
    return isDue || sinceMs >= compareMs ? 'compare' : 'watch'
  }

  async #take(step: Step, signal: AbortSignal): Promise<Outcome | undefined> {
    try {
      if (step === 'compare') return await this.#compare(signal)
      if (step === 'watch') return await this.#watch(signal)
      return await this.#list(step, signal)
    } catch (err) {
      return mistake(err)
    }
  }

  async #list(step: 'list' | 'stream', signal: AbortSignal): Promise<Outcome | undefined> {
    const startedMs = this.#options.clock()
    const replacement = this.#options.store.replace({ rewound: this.#rewound })
    if (step === 'stream') return this.#stream(signal, replacement, startedMs)
    const listed = await list({
      ...this.#options,
      signal,
      onContact: this.#onContact,
      onItem: (object) => replacement.add(object),
    })
    if (listed instanceof Outcome) return listed
    await this.#commit(replacement, listed.resourceVersion, startedMs)
    return undefined
  }

  /** Reads a list as initial events of a watch, which continues after the bookmark that ends them. */
  #stream(signal: AbortSignal, replacement: KindReplacement, startedMs: number): Promise<Outcome> {
    let initial = true
    return this.#open(signal, undefined, (event) => {
      if (!initial) return this.#onEvent(event)
      if (event.type === 'DELETED') replacement.delete(event.object)
      else if (event.type !== 'BOOKMARK') replacement.add(event.object)
      else if (event.initialEventsEnd) {
        initial = false
        return this.#commit(replacement, event.resourceVersion, startedMs).catch(mistake)
      }
      return undefined
    })
  }

  #watch(signal: AbortSignal): Promise<Outcome> {
    return this.#open(signal, this.#resourceVersion, this.#onEvent)
  }

  #open(
    signal: AbortSignal,
    resourceVersion: string | undefined,
    onEvent: (event: WatchEvent) => Outcome | undefined | Promise<Outcome | undefined>,
  ): Promise<Outcome> {
    const onContact = this.#onContact
    return watch({ ...this.#options, signal, resourceVersion, onContact, onEvent })
  }

  /**
   * Compares the stored objects with the metadata of all objects at that moment. Watches can lose changes without a trace. For
   * example, an API server over a restored etcd sends nothing to a watch that begins at a future resourceVersion.
   */
  async #compare(signal: AbortSignal): Promise<Outcome | undefined> {
    const { store, target, meters, log } = this.#options
    const asOf = this.#resourceVersion
    const startedMs = performance.now()
    const comparison = store.compare(asOf)
    let count = 0
    const names: string[] = []
    const listed = await list({
      ...this.#options,
      asOf,
      signal,
      onContact: this.#onContact,
      onItem: (object) => {
        if (comparison.add(object)) return
        count += 1
        if (count <= maxNames)
          names.push(`${object.metadata.namespace ?? ''}/${object.metadata.name}`)
      },
    })
    if (listed instanceof Outcome) {
      return listed.reason === 'RevisionTooNew' ? wentBack(listed.message) : listed
    }
    this.#comparingMs = performance.now() - startedMs
    this.#settle()
    const unlisted = comparison.unlisted()
    if (count + unlisted === 0) return undefined
    meters.differences.inc({ kind: target.kind }, count + unlisted)
    const message = `${count} objects are missing or in another state here, ${unlisted} should not be here`
    log.error(
      { kind: target.kind, resourceVersion: asOf, count, unlisted, names },
      'records differ',
    )
    return new Outcome('RecordsDiffer', message)
  }

  /** Records that the store equals the API server. */
  #settle(): void {
    this.#uncertain = false
    this.#comparedMs = performance.now()
  }

  readonly #onContact = (): void => {
    this.#lastContactMs = this.#options.clock()
    this.#bytesReadMs = performance.now()
  }

  readonly #onEvent = (event: WatchEvent): Outcome | undefined => {
    try {
      return this.#receive(event)
    } catch (err) {
      return mistake(err)
    }
  }

  #receive(event: WatchEvent): Outcome | undefined {
    const isBookmark = event.type === 'BOOKMARK'
    const { resourceVersion } = isBookmark ? event : event.object.metadata
    if (isOlder(resourceVersion, this.#resourceVersion)) {
      return backwards(this.#resourceVersion, resourceVersion)
    }
    if (!isBookmark) this.#change(event)
    this.#resourceVersion = resourceVersion
    this.#progress()
    return undefined
  }

  #change({ type, object }: Exclude<WatchEvent, { type: 'BOOKMARK' }>): void {
    const { store, meters, target } = this.#options
    if (type === 'DELETED') store.delete(object)
    else store.upsert(object)
    const lagMs = performance.now() - this.#bytesReadMs
    meters.changeLag.observe({ kind: target.kind }, lagMs / 1000)
  }

  async #commit(
    replacement: KindReplacement,
    resourceVersion: string,
    startedMs: number,
  ): Promise<undefined> {
    const { target, clock, meters, log } = this.#options
    await replacement.commit(resourceVersion)
    this.#resourceVersion = resourceVersion
    this.#rewound = false
    this.#recovery = afterList(this.#recovery, clock())
    this.#settle()
    const durationMs = clock() - startedMs
    meters.syncDuration.observe({ kind: target.kind }, durationMs / 1000)
    log.info({ kind: target.kind, resourceVersion, durationMs }, 'resources listed')
    this.#reportRecovery()
    this.#markSynced()
    return undefined
  }

  #markSynced(): void {
    this.#isSynced = true
    this.#synced.resolve()
  }

  #progress(): void {
    this.#recovery = afterProgress(this.#recovery)
    this.#reportRecovery()
  }

  #reportRecovery(): void {
    if (isSilent(this.#recovery)) return
    this.#toldStale = ''
    if (this.#failures === 0) return
    const { target, log } = this.#options
    log.info({ kind: target.kind, failures: this.#failures }, 'watch recovered')
    this.#failures = 0
  }

  /** @returns how long to wait */
  #recover(outcome: Outcome, verb: 'list' | 'watch', silent: boolean): number {
    const { target, transport, meters, clock, timings, random } = this.#options
    const { kind } = target
    const { reason } = outcome
    meters.restarts.inc({ kind, reason })
    if (outcome.flaw) meters.decodeErrors.inc({ kind, reason: outcome.flaw })
    if (reason === 'Unauthenticated') transport.reload()
    if (reason === 'Unreachable') transport.recheck()
    const listing = this.#resourceVersion === ''
    if (listing && reason === 'DefinitionMissing' && target.optional === true) this.#markSynced()
    const context = { listing, silent, nowMs: clock(), timings, random }
    const { state, relist, delayMs } = recover(outcome, this.#recovery, context)
    this.#recovery = state
    if (relist) {
      this.#resourceVersion = ''
      this.#rewound ||= reason === 'RevisionWentBack' || reason === 'RecordsDiffer'
      meters.relists.inc({ kind, reason })
    }
    if (outcome.wait) this.#failures += 1
    reportOutcome(this.#options, outcome, { verb, delayMs })
    this.#reportStale()
    return delayMs
  }

  #reportStale(): void {
    const { target, log, timings } = this.#options
    if (!this.isStale) return
    const message = isSilent(this.#recovery)
      ? 'watch brings nothing, changes are seen by lists alone: look for a proxy that buffers answers'
      : 'nothing was heard from the API server, what is served may be out of date'
    if (message === this.#toldStale) return
    this.#toldStale = message
    log.error({ kind: target.kind, idleMs: timings.idleMs }, message)
  }
}

function mistake(err: unknown): Outcome {
  return new Outcome('Internal', 'an error occurred while an answer was processed', { err })
}

function backwards(from: string, to: string): Outcome {
  return wentBack(`the resourceVersion went back from ${from} to ${to}`)
}

function wentBack(message: string): Outcome {
  return new Outcome('RevisionWentBack', message)
}

/** Logs the end of a list or a watch: usual ends at debug, others with a remedy for the operator. */
function reportOutcome(
  { target, transport, log }: { target: ListTarget; transport: Transport; log: Logger },
  outcome: Outcome,
  { verb, delayMs }: { verb: 'list' | 'watch'; delayMs: number },
): void {
  const { kind, resource, namespace } = target
  const { reason, message, err } = outcome
  const event = { kind, reason, message, delayMs, ...(err !== undefined && { err }) }
  if (!outcome.wait) {
    log.debug(event, 'watch ended')
  } else if (reason === 'Unauthenticated' || reason === 'Forbidden') {
    const { identity } = transport
    log.error({ ...event, verb, resource, namespace, identity }, 'permission missing')
  } else if (reason === 'DefinitionMissing') {
    const remedy = 'kubectl apply --server-side -k config/crd'
    log.error({ ...event, resource, remedy }, 'custom resource definition missing')
  } else {
    log.warn(event, 'watch failed')
  }
}
