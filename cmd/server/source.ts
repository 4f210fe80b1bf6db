import { type ComparableSink, kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { type Archives, archiveProbe } from '../../pkg/archives/storage/storage.ts'
import { giveMemoryBack } from '../../pkg/base/fast/fast.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import type { Runnable } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import type { LatestReadmes, ReadmeKeeper } from '../../pkg/registry/readmes/readmes.ts'

/** A cluster or a folder that resources are read from. */
interface Source {
  /** Resolves when the sink has everything. @throws if that is impossible */
  readonly loaded: Promise<ReadmeKeeper>
  close(): Promise<void>
}

interface SourceOptions {
  readonly options: ServerCommandOptions
  /** Called when the source starts. */
  readonly sink: () => ComparableSink
  readonly catalog: Catalog
  readonly readmes: LatestReadmes
  readonly archives: Archives
  readonly log: Logger
  readonly metrics: Metrics
}

/** Fills the sink from the folder of manifests or the cluster, and follows changes. */
export function sourcePart(
  all: SourceOptions,
): Runnable & { readonly waitingFor: () => readonly string[] } {
  const { options, catalog, readmes, log } = all
  const from = options.manifests === undefined ? 'the cluster' : 'the folder of manifests'
  let source: Source | undefined
  let isLoaded = false
  return {
    name: 'source',
    waitingFor: () => (isLoaded ? [] : [`resources are being read from ${from}`]),
    async start() {
      source =
        options.manifests === undefined ? fromCluster(all) : fromFolder(all, options.manifests)
      const keeper = await source.loaded
      // Lists are built in the background. The first reader must find them complete.
      await catalog.model.whenSettled
      giveMemoryBack()
      isLoaded = true
      void readmes.keepIn(keeper, catalog)
      log.info({ versions: catalog.count('Version') }, 'ready')
    },
    stop: () => source?.close(),
  }
}

function fromFolder({ options, sink, archives, log, metrics }: SourceOptions, dir: string): Source {
  const manifests = watchManifests({
    dir,
    apiGroup: options.apiGroup,
    namespace: options.namespace,
    sink: sink(),
    probe: archiveProbe(archives),
    allowEmpty: options.allowEmptyManifests,
    log,
    metrics,
  })
  return {
    loaded: manifests.then(({ readmes }) => readmes),
    close: async () => (await manifests).close(),
  }
}

function fromCluster({ options, sink, log, metrics }: SourceOptions): Source {
  const { apiGroup, kubeconfig, watchNamespace, namespace: bindingsNamespace } = options
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const scope = { watchNamespace, bindingsNamespace }
  const { ready } = cluster.watch({ kinds: kindNames, scope, sink: sink() })
  return { loaded: ready.then(() => cluster.readmes(scope)), close: () => cluster.close() }
}
