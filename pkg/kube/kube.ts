import { type Kind, kindNames, type ResourceSink } from '../apis/v1alpha1/v1alpha1.ts'
import { gauge, type Logger, type Metrics } from '../telemetry/telemetry.ts'
import type { Connection } from './connection.ts'
import { ResourceIntake } from './intake.ts'
import { createMeters } from './meters.ts'
import { type Readmes, watchReadmes } from './readmes.ts'
import { Reflector } from './reflector.ts'
import { targetOf } from './target.ts'
import { defaultTimings, type Timings } from './timings.ts'
import { Transport } from './transport.ts'

export { type Connection, type Credentials, loadConnection } from './connection.ts'
export type { Readmes } from './readmes.ts'

export interface ClusterOptions {
  readonly connection: Connection
  /** API group of the kinds, such as `depot.internal`. */
  readonly apiGroup: string
  /** Reads this namespace only, for which a Role is enough; default: all of them. */
  readonly watchNamespace?: string | undefined
  /** The one namespace whose GroupBindings count. */
  readonly bindingsNamespace: string
  /** Where the objects go. */
  readonly sink: ResourceSink
  readonly log: Logger
  readonly metrics: Metrics
  /** Milliseconds since 1970. Default: the clock of the machine. */
  readonly clock?: () => number
  /** From 0 up to, and without, 1. Default: Math.random. */
  readonly random?: () => number
  /** For tests. */
  readonly timings?: Partial<Timings>
}

export interface Cluster {
  /** True once every kind has been read, and from then on. */
  synced(): boolean
  /** Resolves when `synced` becomes true; never rejects. */
  readonly ready: Promise<void>
  readonly readmes: Readmes
  /** Ends every watch. */
  close(): Promise<void>
}

/**
 * Fills a sink with what a cluster has of each kind and keeps it so, whatever the API server does. Where Depot and
 * GroupBinding are not defined on the cluster there are none of them; they are asked for again and again.
 */
export function watchCluster(options: ClusterOptions): Cluster {
  const { sink, metrics, clock = Date.now, random = Math.random } = options
  const log = options.log.child({ component: 'kube' })
  const timings = { ...defaultTimings, ...options.timings }
  const transport = new Transport(options.connection, timings)
  const meters = createMeters(metrics)
  const stop = new AbortController()

  const shared = { transport, timings, log, meters, clock, random }

  const watches = kindNames.map((kind: Kind) => {
    const intake = new ResourceIntake({ kind, sink, log })
    const target = targetOf(kind, options)
    return { kind, intake, reflector: new Reflector({ target, intake, ...shared }) }
  })
  showState(metrics, watches)
  const { readmes, ended } = watchReadmes(shared, options, stop.signal)
  const running = watches.map(({ reflector }) => reflector.run(stop.signal))

  return {
    synced: () => watches.every(({ reflector }) => reflector.isSynced),
    ready: Promise.all(watches.map(({ reflector }) => reflector.synced)).then(() => undefined),
    readmes,
    async close() {
      stop.abort()
      await Promise.all([...running, ended()])
      await transport.close()
    },
  }
}

function showState(
  metrics: Metrics,
  watches: readonly { kind: Kind; intake: ResourceIntake; reflector: Reflector }[],
): void {
  gauge(
    metrics,
    {
      name: 'watch_last_contact_timestamp_seconds',
      help: 'When the API server was heard of last, bookmarks included.',
      labels: ['kind'],
    },
    (it) => {
      for (const { kind, reflector } of watches) it.set({ kind }, reflector.lastContactMs / 1000)
    },
  )
  gauge(
    metrics,
    {
      name: 'catalog_synced',
      help: '1 once everything of a kind has been read.',
      labels: ['kind'],
    },
    (it) => {
      for (const { kind, reflector } of watches) it.set({ kind }, reflector.isSynced ? 1 : 0)
    },
  )
  gauge(
    metrics,
    {
      name: 'catalog_rejected_objects',
      help: 'Objects that are left out because they are not valid.',
      labels: ['kind', 'reason'],
    },
    (it) => {
      for (const { kind, intake } of watches) {
        for (const [reason, count] of intake.rejections()) it.set({ kind, reason }, count)
      }
    },
  )
}
