/** Opens the records that a command reads once: those of a cluster, or of a folder of manifests. */

import { setTimeout as sleep } from 'node:timers/promises'
import { OptionsError, requireNone } from '../../pkg/base/options/options.ts'
import type { Clock } from '../../pkg/base/pacing/pacing.ts'
import { folderProblem } from '../../pkg/base/run/run.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type Cluster, loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import {
  clusterObjects,
  type FolderObjects,
  folderObjects,
  type Objects,
} from '../../pkg/records/store/store.ts'

/** How long lists may take, and how long to try again when the cluster does not answer. */
const timeoutMs = 30_000
const unansweredMs = 5_000
/** Reasons that a retry does not change. */
const lasting: readonly unknown[] = ['Forbidden', 'Unauthenticated', 'NoCredentials']

/** The cluster did not answer, or refused to. */
export class ClusterUnread extends OptionsError {
  /** Whether it may answer later. */
  readonly mayPass: boolean

  constructor(mayPass: boolean, problems: readonly string[]) {
    super(problems)
    this.mayPass = mayPass
  }
}

interface PlaceOptions {
  readonly manifests: string | undefined
  readonly kubeconfig: string | undefined
  readonly apiGroup: string
}

interface OpenRecords extends AsyncDisposable {
  readonly objects: Objects
  /** The objects of a folder; undefined for a cluster. */
  readonly folder: FolderObjects | undefined
  /** Clock of the API server, or of this machine if they are in a folder. */
  readonly clock: Clock
}

/**
 * Reads every Depot, Module, Provider and Version.
 *
 * @param namespaces of a cluster; undefined: all
 * @throws OptionsError if they cannot be read
 */
export async function openRecords(
  { manifests, kubeconfig, apiGroup }: PlaceOptions,
  namespaces?: readonly string[],
): Promise<OpenRecords> {
  const log = createLogger('silent')
  if (manifests !== undefined) {
    requireNone(folderProblem('--manifests', manifests))
    const folder = await folderObjects({ dir: manifests, apiGroup, watch: false, log })
    return { objects: folder, folder, clock: Date.now, [Symbol.asyncDispose]: () => folder.close() }
  }
  const { cluster, untilRead } = openReadCluster({ kubeconfig, apiGroup })
  const { client } = cluster
  const objects = clusterObjects({
    cluster,
    client,
    apiGroup,
    namespaces,
    // Only controllers read and write these.
    notes: { namespace: 'depot-system', name: 'depot-controller-removals' },
    instance: 'depot',
    log,
  })
  await untilRead(objects.ready)
  const clock = cluster.serverClock
  return { objects, folder: undefined, clock, [Symbol.asyncDispose]: () => cluster.close() }
}

/** Opens a cluster, and remembers why it cannot be read. @throws RegistryError NotConfigured */
export function openReadCluster({ kubeconfig, apiGroup }: Omit<PlaceOptions, 'manifests'>): {
  readonly cluster: Cluster
  /** @throws OptionsError if the records cannot be read; then the cluster is closed */
  readonly untilRead: (ready: Promise<void>) => Promise<void>
} {
  let cause = ''
  const refused = Promise.withResolvers<void>()
  const write = (line: string) => {
    const { reason, message, resource } = JSON.parse(line) as Readonly<Record<string, unknown>>
    if (typeof message !== 'string') return
    cause = `: ${typeof resource === 'string' ? `${resource}: ` : ''}${message}`
    if (lasting.includes(reason)) refused.resolve()
  }
  const connection = loadConnection({ kubeconfig, env: process.env })
  const log = createLogger('warn', { write })
  const cluster = openCluster({ connection, apiGroup, log, metrics: createMetrics() })
  const late = async () => {
    await sleep(unansweredMs, undefined, { ref: false })
    if (cause === '') await sleep(timeoutMs - unansweredMs, undefined, { ref: false })
  }
  return {
    cluster,
    async untilRead(ready) {
      let isRefused = false
      const isRead = await Promise.race([
        ready.then(() => true),
        refused.promise.then(() => {
          isRefused = true
          return false
        }),
        late().then(() => false),
      ])
      if (isRead) return
      await cluster.close()
      throw new ClusterUnread(!isRefused, [
        `the cluster cannot be read${cause || ` within ${timeoutMs / 1000} seconds`}. Check --kubeconfig, and that its user may list and watch the resources of ${apiGroup}; or name a folder with --manifests`,
      ])
    },
  }
}
