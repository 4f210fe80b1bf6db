import { Writable } from 'node:stream'
import { isDeepStrictEqual } from 'node:util'
import {
  type Change,
  type Kind,
  kindNames,
  type Replacement,
  type Resource,
  type ResourceSink,
} from '../../../pkg/apis/v1alpha1/v1alpha1.ts'
import {
  type Cluster,
  type ClusterOptions,
  loadConnection,
  openCluster,
  type Readmes,
  type Scope,
  type Watch,
  type WatchRequest,
} from '../../../pkg/kube/kube.ts'
import { createLogger, createMetrics, type Metrics } from '../../../pkg/telemetry/telemetry.ts'

/** Keeps what it is given, by kind, namespace and name. */
export class RecordingSink implements ResourceSink {
  readonly changes: Change[] = []
  readonly #resources = new Map<string, Resource>()
  /** Kinds that were replaced because the source went back in time. */
  readonly rewound: Kind[] = []
  #replacing = 0

  apply(change: Change): void {
    this.changes.push(change)
    if (change.type === 'upsert') this.#resources.set(keyOf(change.resource), change.resource)
    else this.#resources.delete(`${change.kind}/${change.namespace}/${change.name}`)
  }

  beginReplace(kind: Kind, { rewound = false } = {}): Replacement {
    if (rewound) this.rewound.push(kind)
    const seen = new Set<string>()
    this.#replacing += 1
    return {
      add: (resource) => {
        seen.add(keyOf(resource))
        this.#resources.set(keyOf(resource), resource)
      },
      keep: (key) => {
        seen.add(`${key.kind}/${key.namespace}/${key.name}`)
      },
      commit: () => {
        for (const [key, resource] of this.#resources) {
          if (resource.kind === kind && !seen.has(key)) this.#resources.delete(key)
        }
      },
    }
  }

  /** How often a list was begun. */
  get replacements(): number {
    return this.#replacing
  }

  /** `namespace/name` to resourceVersion. */
  versions(kind: Kind): Record<string, string> {
    const rows = [...this.#resources.values()].filter((resource) => resource.kind === kind)
    return Object.fromEntries(
      rows
        .map(({ metadata }) => [`${metadata.namespace}/${metadata.name}`, metadata.resourceVersion])
        .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)),
    ) as Record<string, string>
  }

  get(kind: Kind, namespace: string, name: string): Resource | undefined {
    return this.#resources.get(`${kind}/${namespace}/${name}`)
  }
}

function keyOf({ kind, metadata }: Resource): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`
}

/** One line of the log. */
export type LogEvent = Readonly<Record<string, unknown>> & { readonly msg: string }

export interface Watched {
  readonly cluster: Pick<Cluster, 'close'> & Watch & { readonly readmes: Readmes }
  readonly sink: RecordingSink
  readonly logs: readonly LogEvent[]
  readonly metrics: Metrics
  /** Value of a metric with exactly these labels; 0 where there is none. */
  metric(name: string, labels: Readonly<Record<string, string>>): Promise<number>
}

export type WatchOptions = Partial<ClusterOptions & Scope & WatchRequest>

/** A watch of a cluster by a kubeconfig file, with a sink, a log and metrics that a test can look into. */
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
  const readmes = cluster.readmes(scope)
  return {
    cluster: { ...watch, readmes, close: () => cluster.close() },
    sink,
    logs,
    metrics,
    async metric(name, labels) {
      const found = await metrics.getSingleMetric(`depot_${name}`)?.get()
      return found?.values.find((it) => isDeepStrictEqual(it.labels, labels))?.value ?? 0
    },
  }
}
