import { Backoff, pause } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type ListTarget, list, type ObservedObject } from './list-watch.ts'
import { Outcome } from './outcome.ts'
import { ReadmeStore } from './readme-store.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'

/** READMEs of module versions, which are in ConfigMaps. */
export interface Readmes {
  /** Counts changes that may affect `get`. */
  readonly revision: number
  /** Keeps the README of a ConfigMap from now on, and fetches it if the watch does not deliver it. */
  want(namespace: string, name: string): void
  forget(namespace: string, name: string): void
  /**
   * The README of a Version as text; undefined if there is none, it has not arrived, or it belongs to another. Never waits.
   */
  get(namespace: string, name: string, key: string, version: string): string | undefined
}

const parallelFetches = 4

interface ReadmeWatchOptions extends Omit<ReflectorOptions, 'target' | 'store'> {
  readonly apiGroup: string
  /** Default: all namespaces. */
  readonly watchNamespace?: string | undefined
  readonly metrics: Metrics
  /** Stops the watch. */
  readonly signal: AbortSignal
}

/**
 * Watches the ConfigMaps with the label `GROUP/readme`, and requests by name those that are needed and lack it. It starts with
 * the first one that is needed.
 */
export class ReadmeWatch {
  readonly #options: ReadmeWatchOptions
  readonly #store: ReadmeStore
  readonly #missing = new Map<string, readonly [namespace: string, name: string]>()
  readonly #fetching = new Set<Promise<void>>()
  #watching: Promise<void> | undefined
  #isSynced = false

  constructor(options: ReadmeWatchOptions) {
    const { apiGroup, metrics } = options
    this.#options = options
    const dropped = counter(metrics, {
      name: 'readmes_dropped_total',
      help: 'READMEs that were dropped to save memory; they are fetched again when they are read.',
    })
    const store = new ReadmeStore({
      apiGroup,
      onMissing: (namespace, name) => {
        this.#missing.set(`${namespace}/${name}`, [namespace, name])
        this.#watching ??= this.#start()
        this.#fetchMissing()
      },
      onDropped: () => dropped.inc(),
    })
    gauge(metrics, {
      name: 'readmes_bytes',
      help: 'Compressed READMEs in memory.',
      collect: (it) => it.set(store.bytes),
    })
    this.#store = store
  }

  get readmes(): Readmes {
    return this.#store
  }

  /** Resolves when the watch and all requests have ended. */
  ended(): Promise<unknown> {
    return Promise.all([this.#watching, ...this.#fetching])
  }

  #start(): Promise<void> {
    const { apiGroup, watchNamespace, signal } = this.#options
    const target = targetOf(`${apiGroup}/readme`, watchNamespace)
    const reflector = new Reflector({ ...this.#options, target, store: this.#store })
    void this.#fetchOnceSynced(reflector.synced)
    return reflector.run(signal)
  }

  /** Missing ConfigMaps are unknown before the first list of the watch is complete. */
  async #fetchOnceSynced(synced: Promise<void>): Promise<void> {
    const { timings, signal } = this.#options
    await synced
    this.#isSynced = true
    this.#fetchMissing()
    while (!signal.aborted) {
      await pause(timings.readmeRefreshMs, signal)
      for (const [namespace, name] of this.#store.unwatched) {
        this.#missing.set(`${namespace}/${name}`, [namespace, name])
      }
      this.#fetchMissing()
    }
  }

  #fetchMissing(): void {
    if (!this.#isSynced) return
    while (this.#fetching.size < Math.min(parallelFetches, this.#missing.size)) {
      const work = this.#fetchUntilNoneIsMissing().finally(() => this.#fetching.delete(work))
      this.#fetching.add(work)
    }
  }

  async #fetchUntilNoneIsMissing(): Promise<void> {
    const { timings, random, log, signal } = this.#options
    const { backoffMs: firstMs, backoffCapMs: capMs } = timings
    const backoff = new Backoff({ firstMs, capMs, jitter: 'full', random })
    for (let [next] = this.#missing; next && !signal.aborted; [next] = this.#missing) {
      const [key, [namespace, name]] = next
      this.#missing.delete(key)
      const isWatched = this.#store.isWatched(namespace, name)
      const outcome = isWatched ? undefined : await this.#fetchOne(namespace, name)
      if (outcome === undefined || signal.aborted) continue
      log.warn({ namespace, name, reason: outcome.reason }, 'readme could not be read')
      this.#missing.set(key, [namespace, name])
      await pause(backoff.nextMs(), signal)
    }
  }

  async #fetchOne(namespace: string, name: string): Promise<Outcome | undefined> {
    let found: ObservedObject | undefined
    const listed = await list({
      ...this.#options,
      target: byName(namespace, name),
      onContact: () => undefined,
      onItem: (object) => {
        found = object
      },
    })
    if (listed instanceof Outcome) return listed
    // It was deleted while it was read, so the answer is outdated.
    if (!this.#missing.has(`${namespace}/${name}`)) this.#store.fetched(namespace, name, found)
    return undefined
  }
}

function targetOf(label: string, namespace: string | undefined): ListTarget {
  const scope = namespace === undefined ? '' : `/namespaces/${encodeURIComponent(namespace)}`
  return {
    kind: 'ConfigMap',
    resource: 'configmaps',
    path: `/api/v1${scope}/configmaps`,
    query: { labelSelector: label },
    ...(namespace !== undefined && { namespace }),
  }
}

/** Reads a list of one item, because the server's identity may only list and watch. */
function byName(namespace: string, name: string): ListTarget {
  const query = { fieldSelector: `metadata.name=${name}` }
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`
  return { kind: 'ConfigMap', resource: 'configmaps', namespace, path, query }
}
