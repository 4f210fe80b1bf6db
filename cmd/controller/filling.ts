import { proxyRules } from '../../pkg/base/http/http.ts'
import type { ControllerCommandOptions } from '../../pkg/base/options/options.ts'
import { endWithin, type Runnable } from '../../pkg/base/run/run.ts'
import type { Logger, Metrics } from '../../pkg/base/telemetry/telemetry.ts'
import { startEvents } from '../../pkg/fill/events/events.ts'
import { type Fetching, openFetching } from '../../pkg/fill/fetching/fetching.ts'
import { hookRoutes } from '../../pkg/fill/hooks/hooks.ts'
import { publishRoutes } from '../../pkg/fill/publishing/publishing.ts'
import { startBindings, startSync } from '../../pkg/fill/sync/sync.ts'
import type { Cluster } from '../../pkg/records/kube/kube.ts'
import { LeaseElection } from '../../pkg/records/lease/lease.ts'
import { clusterObjects, StorageAnnotations } from '../../pkg/records/store/store.ts'
import { compileBinding } from '../../pkg/registry/access/access.ts'
import { type Auth, requestOf } from '../../pkg/registry/auth/auth.ts'
import { openCallers } from '../access/access.ts'
import type { ControllerHttp } from './http.ts'
import { type Running, WorkWhileHeld } from './work.ts'

interface FillingParts {
  readonly options: ControllerCommandOptions
  /** Signs events. */
  readonly key: string | undefined
  readonly cluster: Cluster
  /** Name of this replica. */
  readonly identity: string
  /** Undefined if nobody publishes through the controller. */
  readonly http: ControllerHttp | undefined
  readonly log: Logger
  readonly metrics: Metrics
}

type Known = ReturnType<typeof clusterObjects>

/** Reads all records, answers publishers, and syncs while this replica holds the lease. */
export class Filling implements Runnable {
  readonly name = 'sync'
  readonly #parts: FillingParts
  readonly #work: WorkWhileHeld
  readonly #election: LeaseElection
  #isFilled = false
  #close: (() => Promise<void>) | undefined

  constructor(parts: FillingParts) {
    const { options, cluster, identity, log, metrics } = parts
    this.#parts = parts
    this.#work = new WorkWhileHeld(log)
    this.#election = new LeaseElection({
      client: cluster.client,
      namespace: options.namespace,
      name: options.leaseName,
      identity,
      onHeld: (signal) => this.#work.held(signal),
      log: log.child({ component: 'lease' }),
      metrics,
    })
  }

  waitingFor(): readonly string[] {
    return this.#isFilled ? [] : ['resources are being read from the cluster']
  }

  async start(): Promise<void> {
    const { options, cluster, http, log, metrics } = this.#parts
    const known = this.#records()
    const proxies = proxyRules(process.env)
    const access = http && (await openCallers({ options, proxies, log, metrics }, cluster))
    const { namespace } = options
    const bindings = this.#records({ kinds: ['GroupBinding'], namespaces: [namespace] })
    const isConfined = options.requireStorageGrants || options.storageGrants !== undefined
    const { apiGroup, watchNamespaces: namespaces } = options
    const annotations = isConfined
      ? new StorageAnnotations({ cluster, apiGroup, namespaces })
      : undefined
    const fetching = await this.#fetching(known, annotations)
    this.#close = async () => {
      await access?.auth.close()
      await Promise.all([known.close(), bindings.close()])
      await fetching[Symbol.asyncDispose]()
    }
    await Promise.all([known.ready, annotations?.ready, access?.ready])
    this.#isFilled = true
    if (http && access) http.begin(this.#routes(known, fetching, access.auth))
    this.#election.start()
    log.info({ versions: known.list('Version').length }, 'ready')
    this.#work.begin(async () => {
      const running = [await this.#sync(known, fetching, annotations), this.#bindings(bindings)]
      running.push(...(await this.#events(known, fetching)))
      return { stop: async () => void (await Promise.all(running.map((one) => one.stop()))) }
    })
  }

  async stop(graceMs: number): Promise<void> {
    const { cluster, log } = this.#parts
    await endWithin(this.#work.stop(), graceMs, log)
    await this.#election.release()
    await this.#close?.()
    await cluster.close()
  }

  /** @param only default: everything that is synced */
  #records(only: Pick<Parameters<typeof clusterObjects>[0], 'kinds' | 'namespaces'> = {}): Known {
    const { options, cluster, identity, log } = this.#parts
    const { apiGroup, namespace, leaseName, watchNamespaces: namespaces } = options
    return clusterObjects({
      cluster,
      client: this.#election.guard(cluster.client),
      // Every replica publishes. If several create the same object, one succeeds.
      creator: cluster.client,
      apiGroup,
      namespaces,
      ...only,
      notes: { namespace, name: `${leaseName}-removals` },
      publications: { namespace, name: `${leaseName}-publications` },
      instance: identity,
      log,
    })
  }

  #bindings(objects: Known): Running {
    const { options, cluster, log, metrics } = this.#parts
    const { namespace } = options
    const clock = cluster.serverClock
    return startBindings({ compile: compileBinding, objects, namespace, clock, log, metrics })
  }

  #fetching(known: Known, annotations: StorageAnnotations | undefined): Promise<Fetching> {
    const { options, cluster, log, metrics } = this.#parts
    return openFetching({
      options,
      env: process.env,
      secret: (from, name) => known.secret(from, name),
      clock: cluster.serverClock,
      grants: annotations && {
        text: options.storageGrants,
        annotationOf: (of) => annotations.of(of),
        onInvalid: (of, part) =>
          log.warn({ namespace: of, part }, 'storage grant ignored: not a valid location'),
      },
      log,
      metrics,
    })
  }

  /** Every replica answers publishers and webhooks. */
  #routes(known: Known, fetching: Fetching, { publishers }: Auth) {
    const { options, cluster, log, metrics } = this.#parts
    const publishing = publishRoutes({
      ...fetching,
      objects: known,
      log,
      metrics,
      template: options.publishTemplate,
      publisherOf: (c, { isNew, ...what }) =>
        publishers.publisherOf(requestOf(c), [what.kind, what.namespace, what.name], isNew),
    })
    const hooks = hookRoutes({
      objects: known,
      annotate: (ref, values) => cluster.client.patch(ref, { metadata: { annotations: values } }),
      apiGroup: options.apiGroup,
      clock: fetching.clock,
      log,
      metrics,
    })
    return [publishing, hooks]
  }

  #sync(
    known: Known,
    fetching: Fetching,
    annotations: StorageAnnotations | undefined,
  ): Promise<Running> {
    const { options, log, metrics } = this.#parts
    const { concurrency, verifyIntervalMs, rehashIntervalMs, removalGraceMs } = options
    return startSync({
      objects: known,
      ...fetching,
      apiGroup: options.apiGroup,
      log,
      metrics,
      ...(annotations && { onGrantChange: (listener) => annotations.onChange(listener) }),
      timings: { verifyMs: verifyIntervalMs, rehashMs: rehashIntervalMs, removalGraceMs },
      sweepDelete: options.sweepDelete,
      providerSources: options.providerSources,
      workers: { Module: concurrency, Provider: concurrency, Version: concurrency },
    })
  }

  async #events(known: Known, { egress, clock }: Fetching): Promise<Running[]> {
    const { options, key, log, metrics } = this.#parts
    const { eventsWebhook: url, apiGroup } = options
    if (url === undefined || key === undefined) return []
    return [await startEvents({ objects: known, egress, url, key, apiGroup, clock, log, metrics })]
  }
}
