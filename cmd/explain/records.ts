import { setTimeout as sleep } from 'node:timers/promises'
import { fanOut, type Kind } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { archiveProbe, createArchives } from '../../pkg/archives/storage/storage.ts'
import { type ExplainCommandOptions, OptionsError } from '../../pkg/base/options/options.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'

const timeoutMs = 30_000

/**
 * Reads records once, as a server does.
 *
 * @param only which of a cluster are read; a folder is read as a whole
 * @throws OptionsError if they cannot be read
 */
export async function readRecords(
  options: ExplainCommandOptions,
  only: { readonly kinds: readonly Kind[]; readonly namespace?: string | undefined },
): Promise<{ readonly bindings: GroupBindings; readonly catalog: Catalog }> {
  const { manifests, kubeconfig, apiGroup, namespace, archives: filesystemMountPath } = options
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'explain' })
  const bindings = new GroupBindings({ namespace, log, metrics })
  const firstBy = manifests === undefined ? 'creation' : 'arrival'
  const catalog = new Catalog({ apiGroup, firstBy })
  const sink = fanOut(catalog, bindings)
  if (manifests !== undefined) {
    const archives = createArchives({ filesystemMountPath, log, metrics })
    const probe = archiveProbe(archives)
    const source = await watchManifests({ dir: manifests, apiGroup, sink, probe, log, metrics })
    await source.close()
    return { bindings, catalog }
  }
  const connection = loadConnection({ kubeconfig, env: process.env })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const scope = { watchNamespace: only.namespace, bindingsNamespace: namespace }
  const { ready } = cluster.watch({ kinds: only.kinds, scope, sink })
  try {
    if (await Promise.race([ready.then(() => true), sleep(timeoutMs, false)])) {
      return { bindings, catalog }
    }
  } finally {
    await cluster.close()
  }
  const where = only.namespace ?? namespace
  throw new OptionsError([
    `the cluster did not answer within ${timeoutMs / 1000} seconds: check --kubeconfig, and that you may list and watch these kinds in namespace ${where}: ${only.kinds.join(', ')}`,
  ])
}
