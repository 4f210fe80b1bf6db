import { kindNames, type ResourceSink } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import type { Archives } from '../../pkg/archives/storage/storage.ts'
import { giveMemoryBack } from '../../pkg/base/fast/fast.ts'
import type { ServerCommandOptions } from '../../pkg/base/options/options.ts'
import type { Runnable } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { loadConnection, openCluster, type Readmes } from '../../pkg/records/kube/kube.ts'
import type { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { archiveProbe } from './archive-probe.ts'
import type { LatestReadmes } from './readmes.ts'

/** Where resources come from. */
interface Source {
  /** Resolves when the sink has everything. @throws where that can never be */
  readonly loaded: Promise<void>
  /** READMEs of module versions, once everything is loaded. */
  readmes(): Promise<Readmes>
  close(): Promise<void>
}

interface SourceOptions {
  readonly options: ServerCommandOptions
  /** Asked for when the source is started. */
  readonly sink: () => ResourceSink
  readonly archives: Archives
  readonly log: Logger
  readonly metrics: Metrics
}

/** Keeps the catalog in step with where resources come from. */
export class SourceInStep implements Runnable {
  readonly name = 'source'
  readonly #all: SourceOptions
  readonly #catalog: Catalog
  readonly #readmes: LatestReadmes
  #source: Source | undefined
  #isLoaded = false

  constructor(all: SourceOptions, catalog: Catalog, readmes: LatestReadmes) {
    this.#all = all
    this.#catalog = catalog
    this.#readmes = readmes
  }

  /** What is missing before the catalog has everything, in words. */
  waitingFor(): string[] {
    if (this.#isLoaded) return []
    const from =
      this.#all.options.manifests === undefined ? 'the cluster' : 'the folder of manifests'
    return [`resources are being read from ${from}`]
  }

  async start(): Promise<void> {
    this.#source = openSource(this.#all)
    await this.#source.loaded
    // Lists are put together in the background; the first reader should find them whole.
    await this.#catalog.model.whenSettled
    giveMemoryBack()
    this.#isLoaded = true
    void this.#readmes.keepIn(await this.#source.readmes(), this.#catalog)
    this.#all.log.info({ versions: this.#catalog.count('Version') }, 'ready')
  }

  async stop(): Promise<void> {
    await this.#source?.close()
  }
}

/** Starts to fill the sink, from the folder of manifests or else from the cluster, and keeps it in step. */
function openSource(all: SourceOptions): Source {
  return all.options.manifests === undefined ? fromCluster(all) : fromManifests(all)
}

function fromManifests({ options, sink, archives, log, metrics }: SourceOptions): Source {
  const manifests = watchManifests({
    dir: options.manifests as string,
    apiGroup: options.apiGroup,
    namespace: options.namespace,
    sink: sink(),
    probe: archiveProbe(archives),
    allowEmpty: options.allowEmptyManifests,
    log,
    metrics,
  })
  return {
    loaded: manifests.then(() => undefined),
    readmes: async () => (await manifests).readmes,
    close: async () => (await manifests).close(),
  }
}

function fromCluster({ options, sink, log, metrics }: SourceOptions): Source {
  const { apiGroup, kubeconfig, watchNamespace, namespace: bindingsNamespace } = options
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const scope = { watchNamespace, bindingsNamespace }
  const { ready } = cluster.watch({ kinds: kindNames, scope, sink: sink() })
  const readmes = async () => cluster.readmes(scope)
  return { loaded: ready, readmes, close: () => cluster.close() }
}
