import { Backoff, pause } from '../../base/pacing/pacing.ts'
import { counter, gauge, type Metrics } from '../../base/telemetry/telemetry.ts'
import { type Readme, readmeIn, readmeText } from '../readme/readme.ts'
import { type ListTarget, list, type ObservedObject } from './list-watch.ts'
import { ListedStore } from './listed-store.ts'
import { Outcome } from './outcome.ts'
import { Reflector, type ReflectorOptions } from './reflector.ts'
import type { KindComparison } from './store.ts'

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

interface Held {
  /** Undefined if it was not read yet, or does not exist. */
  readonly readme: Readme | undefined
  /** Whether the watch delivers it, and so reports when it is deleted. */
  readonly watched: boolean
  /** Whether its text was dropped to save memory. */
  dropped?: boolean
  readonly metadata?: ObservedObject['metadata']
}

const defaultMaxBytes = 64 * 1024 * 1024

interface ReadmeStoreOptions {
  readonly apiGroup: string
  /** Called with a needed ConfigMap that the watch does not have, or no longer has. */
  readonly onMissing: (namespace: string, name: string) => void
  /** Called with each README that is dropped to save memory. */
  readonly onDropped: () => void
  /** Limit of compressed READMEs. Default: 64 MiB */
  readonly maxBytes?: number
}

/**
 * Compressed READMEs of the ConfigMaps that are needed, and nothing of others. If there are too many, the namespace with most
 * bytes loses its least recently read one. It is fetched by name when it is read again.
 */
export class ReadmeStore extends ListedStore {
  /** Least recently read first. */
  readonly #held = new Map<string, Held>()
  /** Bytes of texts, by namespace. */
  readonly #bytes = new Map<string, number>()
  readonly #maxBytes: number
  #totalBytes = 0
  #revision = 0
  readonly #apiGroup: string
  readonly #onMissing: (namespace: string, name: string) => void
  readonly #onDropped: () => void

  constructor({ apiGroup, onMissing, onDropped, maxBytes = defaultMaxBytes }: ReadmeStoreOptions) {
    super()
    this.#apiGroup = apiGroup
    this.#onMissing = onMissing
    this.#onDropped = onDropped
    this.#maxBytes = maxBytes
  }

  /** Compressed bytes in memory. */
  get bytes(): number {
    return this.#totalBytes
  }

  get revision(): number {
    return this.#revision
  }

  want(namespace: string, name: string): void {
    const key = `${namespace}/${name}`
    if (this.#held.get(key)?.readme !== undefined) return
    this.#set(key, { readme: undefined, watched: false })
    this.#onMissing(namespace, name)
  }

  forget(namespace: string, name: string): void {
    this.#revision += 1
    this.#set(`${namespace}/${name}`, undefined)
  }

  /** READMEs that no watch delivers, so that they have to be read again from time to time. */
  get unwatched(): readonly (readonly [namespace: string, name: string])[] {
    const keys = [...this.#held]
      .filter(([, { watched, dropped }]) => !watched && !dropped)
      .map(([key]) => key)
    return keys.map((key) => [namespaceOf(key), key.slice(key.indexOf('/') + 1)])
  }

  /** Whether the watch delivers a README, so that an answer to a request is not needed. */
  isWatched(namespace: string, name: string): boolean {
    return this.#held.get(`${namespace}/${name}`)?.watched === true
  }

  /** The README as text; undefined if there is none, it has not arrived yet, or the Version may not show it. */
  get(namespace: string, name: string, key: string, version: string): string | undefined {
    const readme = this.#used(namespace, name)?.readme
    return readme && readmeText(readme, key, version)
  }

  /**
   * Stores the answer to a request by name, unless the watch has already delivered something newer.
   *
   * @param object undefined if there is none
   */
  fetched(namespace: string, name: string, object: ObservedObject | undefined): void {
    if (this.isWatched(namespace, name)) return
    if (object !== undefined) this.#hold(object)
    else if (this.#held.get(`${namespace}/${name}`)?.readme !== undefined) {
      this.#revision += 1
      this.#set(`${namespace}/${name}`, { readme: undefined, watched: false })
    }
  }

  /** Other ConfigMaps are not needed, or read by name. */
  override compare(asOf: string): KindComparison {
    const states = super.compare(asOf)
    const isHeld = ({ namespace = '', name }: ObservedObject['metadata']) =>
      this.held(namespace, name) !== undefined
    return { ...states, add: (listed) => !isHeld(listed.metadata) || states.add(listed) }
  }

  protected held(namespace: string, name: string): ObservedObject['metadata'] | undefined {
    const held = this.#held.get(`${namespace}/${name}`)
    return held?.watched === true ? held.metadata : undefined
  }

  protected *all(): Generator<ObservedObject['metadata']> {
    for (const { watched, metadata } of this.#held.values()) if (watched && metadata) yield metadata
  }

  protected keep(object: ObservedObject): void {
    this.#hold(object)
  }

  /** It was deleted, or only lost its label. A request by name tells. */
  protected drop(metadata: ObservedObject['metadata']): void {
    this.#lose(keyOf({ metadata }))
  }

  #used(namespace: string, name: string): Held | undefined {
    const key = `${namespace}/${name}`
    const held = this.#held.get(key)
    if (held === undefined) return undefined
    if (held.dropped) this.#onMissing(namespace, name)
    held.dropped = false
    this.#held.delete(key)
    this.#held.set(key, held)
    return held
  }

  /** @param held undefined for nothing any more */
  #set(key: string, held: Held | undefined): void {
    const namespace = namespaceOf(key)
    const change = bytesOf(held) - bytesOf(this.#held.get(key))
    this.#totalBytes += change
    const ofNamespace = (this.#bytes.get(namespace) ?? 0) + change
    if (ofNamespace === 0) this.#bytes.delete(namespace)
    else this.#bytes.set(namespace, ofNamespace)
    this.#held.delete(key)
    if (held !== undefined) this.#held.set(key, held)
  }

  #makeRoom(): void {
    while (this.#totalBytes > this.#maxBytes) {
      const [largest] = [...this.#bytes].reduce((a, b) => (b[1] > a[1] ? b : a))
      for (const [key, held] of this.#held) {
        if (bytesOf(held) === 0 || namespaceOf(key) !== largest) continue
        this.#set(key, { readme: undefined, watched: false, dropped: true })
        this.#onDropped()
        break
      }
    }
  }

  #lose(key: string): void {
    if (!this.#held.has(key)) return
    this.#revision += 1
    this.#set(key, { readme: undefined, watched: false })
    this.#onMissing(namespaceOf(key), key.slice(key.indexOf('/') + 1))
  }

  #hold(object: ObservedObject): void {
    const key = keyOf(object)
    if (!this.#held.has(key)) return
    this.#revision += 1
    const readme = readmeIn(object, this.#apiGroup, (value) => Buffer.from(value, 'base64'))
    // The watch delivers every ConfigMap with the label, whoever requested it first.
    this.#set(key, { readme, watched: readme.owners === undefined, metadata: object.metadata })
    this.#makeRoom()
  }
}

function keyOf({ metadata: { namespace = '', name } }: ObservedObject): string {
  return `${namespace}/${name}`
}

function namespaceOf(key: string): string {
  return key.slice(0, key.indexOf('/'))
}

function bytesOf(held: Held | undefined): number {
  let bytes = 0
  for (const text of held?.readme?.texts.values() ?? []) bytes += text.length
  return bytes
}
