import type { ResourceSink } from '../../pkg/apis/v1alpha1/v1alpha1.ts'
import { loadConnection, type Readmes, watchCluster } from '../../pkg/kube/kube.ts'
import { watchManifests } from '../../pkg/manifests/manifests.ts'
import type { ServerOptions } from '../../pkg/options/options.ts'
import type { Archives } from '../../pkg/storage/storage.ts'
import type { Logger, Metrics } from '../../pkg/telemetry/telemetry.ts'
import { archiveProbe } from './archive-probe.ts'

/** Where resources come from. */
export interface Source {
  /** Resolves when the sink has everything. @throws where that can never be */
  readonly loaded: Promise<void>
  /** READMEs of module versions; undefined where this source has none. */
  readonly readmes?: Readmes
  close(): Promise<void>
}

export interface SourceOptions {
  readonly options: ServerOptions
  readonly sink: ResourceSink
  readonly archives: Archives
  readonly log: Logger
  readonly metrics: Metrics
}

/** Starts to fill the sink, from the folder of manifests or else from the cluster, and keeps it in step. */
export function openSource(all: SourceOptions): Source {
  return all.options.manifests === undefined ? fromCluster(all) : fromManifests(all)
}

function fromManifests({ options, sink, archives, log, metrics }: SourceOptions): Source {
  const manifests = watchManifests({
    dir: options.manifests as string,
    apiGroup: options.apiGroup,
    sink,
    probe: archiveProbe(archives),
    log,
    metrics,
  })
  return {
    loaded: manifests.then(() => undefined),
    close: async () => (await manifests).close(),
  }
}

function fromCluster({ options, sink, log, metrics }: SourceOptions): Source {
  const { apiGroup, kubeconfig, watchNamespace, namespace: bindingsNamespace } = options
  const cluster = watchCluster({
    connection: loadConnection({ kubeconfig, env: process.env }),
    apiGroup,
    watchNamespace,
    bindingsNamespace,
    sink,
    log,
    metrics,
  })
  return { loaded: cluster.ready, readmes: cluster.readmes, close: () => cluster.close() }
}
