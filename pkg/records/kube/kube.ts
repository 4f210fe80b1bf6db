/**
 * Reads and writes a cluster, over one pool of connections: lists and watches that survive any failure of the API server and
 * fill a sink, and single objects by name.
 */

import { type ComparableSink, JsonReader, type Kind } from '../../api/v1alpha1/v1alpha1.ts'
import type { Clock, Random } from '../../base/pacing/pacing.ts'
import type { Logger, Metrics } from '../../base/telemetry/telemetry.ts'
import { ApiClient, type KubeClient } from './client.ts'
import type { ClusterReadmes } from './cluster-readmes.ts'
import type { Connection } from './connection.ts'
import { type Scope, targetOf } from './list-watch.ts'
import { createWatchMetrics, showWatches, type WatchedKind } from './metrics.ts'
import { watchReadmes } from './readmes.ts'
import { Reflector } from './reflector.ts'
import { ResourceStore, type Store } from './store.ts'
import { defaultTimings, type Timings } from './timings.ts'
import { Transport } from './transport.ts'

export { type Api, createApi } from './api.ts'
export type { JsonPatchOperation, KubeClient, ObjectPatch } from './client.ts'
export { ClusterReadmes } from './cluster-readmes.ts'
export type { Connection } from './connection.ts'
export { loadConnection } from './connection.ts'
export type { Scope } from './list-watch.ts'
export { isOlder, type ObservedObject } from './list-watch.ts'
export { ListedStore, ObservedObjects } from './listed-store.ts'
export { ApiError } from './outcome.ts'
export { pathOf } from './paths.ts'
export type { KindReplacement } from './store.ts'

export interface ClusterOptions {
  readonly connection: Connection
  /** API group of the kinds, such as `depot.internal`. */
  readonly apiGroup: string
  readonly log: Logger
  readonly metrics: Metrics
  /** Default: the clock of the machine. */
  readonly clock?: Clock
  /** Default: Math.random. */
  readonly random?: Random
  /** For tests. */
  readonly timings?: Partial<Timings>
}

export interface WatchRequest {
  readonly kinds: readonly Kind[]
  readonly scope: Scope
  /** Receives the objects. */
  readonly sink: ComparableSink
}

interface ObserveRequest<K extends Kind> {
  readonly kinds: readonly K[]
  readonly scope: Scope
  /** Receives the objects of a kind, parsed from JSON without any check. */
  readonly storeOf: (kind: K) => Store
}

export interface Watch {
  /** Resolves once every kind was read; never rejects. */
  readonly ready: Promise<void>
}

export interface Cluster {
  /** Reads and writes single objects. */
  readonly client: KubeClient
  /** The clock of the API server; that of this machine until an answer has a time. */
  readonly serverClock: Clock
  /**
   * Fills a sink with the objects of some kinds in a cluster, and follows changes until the cluster is closed. If the cluster
   * does not define Depot or GroupBinding, it has none of them, and the watch retries.
   */
  watch(request: WatchRequest): Watch
  /** Fills a sink with whole objects. */
  observe<K extends Kind>(request: ObserveRequest<K>): Watch
  /** Fills the READMEs that are wanted from ConfigMaps. Call it once. */
  watchReadmes(readmes: ClusterReadmes, scope: Scope): void
  /** Ends every watch. */
  close(): Promise<void>
}

/** Reads nothing yet. */
export function openCluster(options: ClusterOptions): Cluster {
  const { apiGroup, metrics, clock = Date.now, random = Math.random } = options
  const log = options.log.child({ component: 'kube' })
  const timings = { ...defaultTimings, ...options.timings }
  const transport = new Transport(options.connection, timings, clock)
  const meters = createWatchMetrics(metrics)
  const stop = new AbortController()
  const shared = { transport, timings, json: new JsonReader(), log, meters, clock, random }
  const watched: WatchedKind[] = []
  const running: (() => Promise<unknown>)[] = []
  showWatches(metrics, watched)

  function reflect(kind: Kind, scope: Scope, store: Store): Reflector {
    const target = targetOf(kind, apiGroup, scope)
    const reflector = new Reflector({ target, store, ...shared })
    watched.push({ kind, reflector, ...(store instanceof ResourceStore && { store }) })
    const ended = reflector.run(stop.signal)
    running.push(() => ended)
    return reflector
  }

  return {
    client: new ApiClient({ transport, apiGroup, timings }),
    serverClock: transport.serverClock,
    watch: ({ kinds, scope, sink }) =>
      watchOf(
        kinds.map((kind) => reflect(kind, scope, new ResourceStore({ kind, apiGroup, sink, log }))),
      ),
    observe: ({ kinds, scope, storeOf }) =>
      watchOf(kinds.map((kind) => reflect(kind, scope, storeOf(kind)))),
    watchReadmes(readmes, { watchNamespace }) {
      const { signal } = stop
      const given = { ...shared, readmes, apiGroup, watchNamespace, metrics, signal }
      running.push(watchReadmes(given))
    },
    async close() {
      stop.abort()
      await Promise.all(running.map((ended) => ended()))
      await transport.close()
    },
  }
}

function watchOf(reflectors: readonly Reflector[]): Watch {
  return { ready: Promise.all(reflectors.map(({ synced }) => synced)).then(() => undefined) }
}
