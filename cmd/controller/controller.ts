import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import { proxyRules } from '../../pkg/base/http/http.ts'
import {
  type ControllerCommandOptions,
  type ControllerCommandSecrets,
  controllerCommand,
  mistakeIn,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { endWithin, type Runnable, run, runCommand } from '../../pkg/base/run/run.ts'
import { type RunningAdmin, serveAdmin } from '../../pkg/base/serving/serving.ts'
import {
  createLogger,
  createMetrics,
  logOutput,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import { startEvents } from '../../pkg/fill/events/events.ts'
import { openFetching } from '../../pkg/fill/fetching/fetching.ts'
import { hookRoutes } from '../../pkg/fill/hooks/hooks.ts'
import { publishRoutes } from '../../pkg/fill/publishing/publishing.ts'
import { type SyncOptions, startSync, watchBindings } from '../../pkg/fill/sync/sync.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { LeaseElection } from '../../pkg/records/lease/lease.ts'
import { clusterObjects, watchStorageAnnotations } from '../../pkg/records/store/store.ts'
import { compileBinding } from '../../pkg/registry/access/access.ts'
import { requestOf } from '../../pkg/registry/auth/auth.ts'
import { openCallers } from '../access/access.ts'
import { ControllerHttp } from './http.ts'
import { watchLastBackup } from './last-backup.ts'
import { WorkWhileHeld } from './work.ts'

/** A shorter key could be guessed from a signed event. */
const leastKeyLength = 24

/** `depot controller`. */
export function controller(args: readonly string[]): Promise<void> {
  limitHeap()
  return runCommand({
    command: controllerCommand,
    args,
    main: ({ options, secrets }) => runController(options, secrets),
  })
}

/**
 * Fills the registry of a cluster until SIGTERM or SIGINT. One replica works; the others wait with all records in memory.
 *
 * @throws OptionsError naming everything that keeps it from starting
 */
async function runController(
  options: ControllerCommandOptions,
  { eventsWebhookKey: key }: ControllerCommandSecrets,
): Promise<undefined> {
  if (options.eventsWebhook !== undefined && (key?.length ?? 0) < leastKeyLength) {
    throw new OptionsError([
      `--events-webhook needs a key of at least ${leastKeyLength} characters: set DEPOT_EVENTS_WEBHOOK_KEY, such as to the output of openssl rand -hex 32`,
    ])
  }
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const { apiGroup, namespace, leaseName, backupLease, watchNamespaces: namespaces } = options
  const connection = loadConnection({ kubeconfig: options.kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const identity = `${hostname()}-${randomBytes(4).toString('hex')}`

  const proxies = proxyRules(process.env)
  let isFilled = false
  const work = new WorkWhileHeld(log)
  const election = new LeaseElection({
    client: cluster.client,
    namespace,
    name: leaseName,
    identity,
    onHeld: (signal) => work.held(signal),
    log: log.child({ component: 'lease' }),
    metrics,
  })

  const stopLooking =
    backupLease === undefined
      ? undefined
      : watchLastBackup({
          client: cluster.client,
          lease: { namespace, name: backupLease },
          log,
          metrics,
        })
  const waitingFor = () => (isFilled ? [] : ['resources are being read from the cluster'])
  const { listen, adminListen } = options
  const http =
    listen &&
    new ControllerHttp(options, {
      listen,
      log,
      metrics,
      waitingFor,
      onListening: (ports) =>
        log.info({ ...ports, identity, version: programVersion }, 'listening'),
    })
  const sync: Runnable & { close?: () => Promise<void> } = {
    name: 'sync',
    async start() {
      const client = election.guard(cluster.client)
      const known = clusterObjects({
        cluster,
        client,
        // Every replica publishes. Of several that create an object, one succeeds.
        creator: cluster.client,
        apiGroup,
        namespaces,
        notes: { namespace, name: `${leaseName}-removals` },
        publications: { namespace, name: `${leaseName}-publications` },
        instance: identity,
        log,
      })
      const access = http && (await openCallers({ options, proxies, cluster, log, metrics }))
      const bindings = watchBindings({
        compile: compileBinding,
        cluster,
        client,
        namespace,
        clock: cluster.serverClock,
        log,
        metrics,
      })
      const isConfined = options.requireStorageGrants || options.storageGrants !== undefined
      const annotations = isConfined
        ? watchStorageAnnotations({ cluster, apiGroup, namespaces })
        : undefined
      const fetching = await openFetching({
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
      this.close = async () => {
        await access?.auth.close()
        await known.close()
        await fetching.close()
      }
      await Promise.all([known.ready, annotations?.ready, access?.ready])
      isFilled = true
      if (http && access) {
        const { publishers } = access.auth
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
          // Every replica answers webhooks.
          annotate: (ref, values) =>
            cluster.client.patch(ref, { metadata: { annotations: values } }),
          apiGroup,
          clock: fetching.clock,
          log,
          metrics,
        })
        http.begin([publishing, hooks], log)
      }
      election.start()
      log.info({ versions: known.list('Version').length }, 'ready')
      const { concurrency, verifyIntervalMs, rehashIntervalMs, removalGraceMs } = options
      const syncOptions: SyncOptions = {
        objects: known,
        ...fetching,
        apiGroup,
        log,
        metrics,
        ...(annotations && { onGrantChange: (listener) => annotations.onChange(listener) }),
        timings: { verifyMs: verifyIntervalMs, rehashMs: rehashIntervalMs, removalGraceMs },
        sweepDelete: options.sweepDelete,
        providerSources: options.providerSources,
        workers: { Module: concurrency, Provider: concurrency, Version: concurrency },
      }
      work.begin(async () => {
        const running = [await startSync(syncOptions), bindings.start()]
        const { eventsWebhook: url } = options
        if (url !== undefined && key !== undefined) {
          const { egress, clock } = fetching
          running.push(
            await startEvents({ objects: known, egress, url, key, apiGroup, clock, log, metrics }),
          )
        }
        return {
          stop: async () => {
            await Promise.all(running.map((one) => one.stop()))
          },
        }
      })
    },
    async stop(graceMs) {
      stopLooking?.()
      await endWithin(work.stop(), graceMs, log)
      await election.release()
      await this.close?.()
      await cluster.close()
    },
  }
  const admin = http
    ? http.part
    : adminPart({
        adminListen,
        metrics,
        waitingFor,
        onListening: (adminUrl) =>
          log.info({ adminUrl, identity, version: programVersion }, 'listening'),
      })
  await run({ groups: [[admin], [sync]], log, graceMs: options.shutdownGracePeriodMs })
  return undefined
}

/** Health, readiness and metrics. `start` throws OptionsError if the address cannot be used. */
export function adminPart({
  onListening,
  ...admin
}: Parameters<typeof serveAdmin>[0] & {
  readonly onListening: (adminUrl: string) => void
}): Runnable {
  let running: RunningAdmin | undefined
  return {
    name: 'admin',
    async start() {
      running = await serveAdmin(admin).catch(mistakeIn('--admin-listen'))
      onListening(running.adminUrl)
    },
    stop() {
      running?.stop()
    },
  }
}
