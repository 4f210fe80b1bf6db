import { type ComparableSink, kindNames } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { type Archives, archiveProbe } from '../../pkg/archives/storage/storage.ts'
import { giveMemoryBack } from '../../pkg/base/fast/fast.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import type { Runnable } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { FolderReadmes, watchManifests } from '../../pkg/records/folder/folder.ts'
import { ClusterReadmes, loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import type { Readmes } from '../../pkg/records/readme/readme.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'

/** A cluster or a folder that resources are read from. */
interface Source {
  /** Resolves when the sink has everything. @throws if that is impossible */
  readonly loaded: Promise<unknown>
  /** Called when the catalog has noted which READMEs are wanted, so that one watch brings nearly all of them. */
  readReadmes?(): void
  close(): Promise<void>
}

interface SourceOptions {
  readonly options: ServerCommandOptions
  /** Called when the source starts. */
  readonly sink: () => ComparableSink
  readonly catalog: Catalog
  readonly archives: Archives
  readonly log: Logger
  readonly metrics: Metrics
}

interface SourcePart extends Runnable {
  readonly readmes: Readmes
  waitingFor(): readonly string[]
}

/** Fills the sink from the folder of manifests or the cluster, and follows changes. */
export function sourcePart(all: SourceOptions): SourcePart {
  const { options, catalog, log } = all
  const { manifests: dir, apiGroup } = options
  const inFolder = new FolderReadmes()
  const inCluster = new ClusterReadmes(apiGroup)
  const from = dir === undefined ? 'the cluster' : 'the folder of manifests'
  let source: Source | undefined
  let isLoaded = false
  return {
    name: 'source',
    readmes: dir === undefined ? inCluster : inFolder,
    waitingFor: () => (isLoaded ? [] : [`resources are being read from ${from}`]),
    async start() {
      source = dir === undefined ? fromCluster(all, inCluster) : fromFolder(all, dir, inFolder)
      await source.loaded
      // Lists are built in the background. The first reader must find them complete.
      await catalog.model.whenSettled
      giveMemoryBack()
      isLoaded = true
      source.readReadmes?.()
      log.info({ versions: catalog.count('Version') }, 'ready')
    },
    stop: () => source?.close(),
  }
}

function fromFolder(
  { options, sink, archives, log, metrics }: SourceOptions,
  dir: string,
  readmes: FolderReadmes,
): Source {
  const loaded = watchManifests({
    dir,
    apiGroup: options.apiGroup,
    namespace: options.namespace,
    sink: sink(),
    readmes,
    probe: archiveProbe(archives),
    allowEmpty: options.allowEmptyManifests,
    log,
    metrics,
  })
  return { loaded, close: async () => (await loaded).close() }
}

function fromCluster(
  { options, sink, log, metrics }: SourceOptions,
  readmes: ClusterReadmes,
): Source {
  const { apiGroup, kubeconfig, watchNamespace, namespace: bindingsNamespace } = options
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const scope = { watchNamespace, bindingsNamespace }
  const { ready } = cluster.watch({ kinds: kindNames, scope, sink: sink() })
  return {
    loaded: ready,
    readReadmes: () => cluster.watchReadmes(readmes, scope),
    close: () => cluster.close(),
  }
}
