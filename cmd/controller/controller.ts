import { randomBytes } from 'node:crypto'
import { hostname } from 'node:os'
import { limitHeap } from '../../pkg/base/fast/fast.ts'
import {
  type ControllerCommandOptions,
  type ControllerCommandSecrets,
  OptionsError,
} from '../../pkg/base/options/options.ts'
import { httpPart, opened, run } from '../../pkg/base/run/run.ts'
import { serveAdmin } from '../../pkg/base/serving/serving.ts'
import {
  createLogger,
  createMetrics,
  logOutput,
  programVersion,
} from '../../pkg/base/telemetry/telemetry.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { Filling } from './filling.ts'
import { controllerHttp } from './http.ts'
import { watchLastBackup } from './last-backup.ts'

/** A shorter key could be guessed from a signed event. */
const leastKeyLength = 24

/**
 * Fills the registry of a cluster until SIGTERM or SIGINT. One replica works; the others wait with all records in memory.
 *
 * @throws OptionsError naming everything that prevents the start
 */
export async function controller(
  options: ControllerCommandOptions,
  _: readonly string[],
  { eventsWebhookKey: key }: ControllerCommandSecrets,
): Promise<undefined> {
  limitHeap()
  if (options.eventsWebhook !== undefined && (key?.length ?? 0) < leastKeyLength) {
    throw new OptionsError([
      `--events-webhook needs a key of at least ${leastKeyLength} characters: set DEPOT_EVENTS_WEBHOOK_KEY, such as to the output of openssl rand -hex 32`,
    ])
  }
  const log = createLogger(options.logLevel, logOutput(options.logFormat))
  const metrics = createMetrics()
  const { apiGroup, namespace, backupLease, listen, adminListen } = options
  const connection = loadConnection({ kubeconfig: options.kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const identity = `${hostname()}-${randomBytes(4).toString('hex')}`
  const onListening = (ports: object) =>
    log.info({ ...ports, identity, version: programVersion }, 'listening')
  const waitingFor = () => filling.waitingFor()
  const admin = { adminListen, metrics, waitingFor }
  const http = listen && controllerHttp({ ...admin, listen, log, onListening })
  const filling = new Filling({ options, key, cluster, identity, http, log, metrics })
  const ports = http?.part ?? httpPart({ adminListen, open: () => serveAdmin(admin), onListening })
  const { client } = cluster
  const looking = opened(
    'last backup',
    () =>
      backupLease &&
      watchLastBackup({ client, lease: { namespace, name: backupLease }, log, metrics }),
    (stop) => (stop ? stop() : undefined),
  )
  await run({ groups: [[ports], [filling, looking]], log, graceMs: options.shutdownGracePeriodMs })
  return undefined
}
