import { Writable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import { kindNames } from '../../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics, type Metrics } from '../../../pkg/base/telemetry/telemetry.ts'
import {
  type Cluster,
  type ClusterOptions,
  ClusterReadmes,
  loadConnection,
  openCluster,
  type Scope,
  type Watch,
  type WatchRequest,
} from '../../../pkg/records/kube/kube.ts'
import { RecordingSink } from '../recording-sink.ts'

/** One line of the log. */
export type LogEvent = Readonly<Record<string, unknown>> & { readonly msg: string }

export interface Watched {
  readonly cluster: Pick<Cluster, 'close' | 'serverClock'> &
    Watch & { readonly readmes: ClusterReadmes }
  readonly sink: RecordingSink
  readonly logs: readonly LogEvent[]
  readonly metrics: Metrics
  /** Value of a metric with exactly these labels; 0 if there is none. */
  metric(name: string, labels: Readonly<Record<string, string>>): Promise<number>
}

export type WatchOptions = Partial<
  ClusterOptions & Scope & WatchRequest & { readonly readmes: ClusterReadmes }
>

/** A watch of a cluster by a kubeconfig file, with a sink, a log and metrics that a test can read. */
export function watchKubeconfig(kubeconfig: string, options: WatchOptions = {}): Watched {
  const sink = new RecordingSink()
  const metrics = createMetrics({ version: 'test' })
  const logs: LogEvent[] = []
  const destination = new Writable({
    write(chunk: Buffer, _encoding, done) {
      logs.push(JSON.parse(chunk.toString()) as LogEvent)
      done()
    },
  })
  const scope = {
    watchNamespace: options.watchNamespace,
    bindingsNamespace: options.bindingsNamespace ?? 'depot-system',
  }
  const cluster = openCluster({
    connection: loadConnection({ kubeconfig, env: {} }),
    apiGroup: 'depot.internal',
    log: createLogger('debug', destination),
    metrics,
    ...options,
  })
  const watch = cluster.watch({ kinds: kindNames, scope, sink, ...options })
  const { readmes = new ClusterReadmes('depot.internal') } = options
  cluster.watchReadmes(readmes, scope)
  return {
    cluster: {
      ...watch,
      readmes,
      serverClock: cluster.serverClock,
      close: () => cluster.close(),
    },
    sink,
    logs,
    metrics,
    async metric(name, labels) {
      const found = await metrics.getSingleMetric(`depot_${name}`)?.get()
      return found?.values.find((it) => isDeepStrictEqual(it.labels, labels))?.value ?? 0
    },
  }
}
