import { type ComparableSink, fanOut, type Kind } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { archiveProbe, createArchives } from '../../pkg/archives/storage/storage.ts'
import type { ExplainCommandOptions } from '../../pkg/base/options/options.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { watchManifests } from '../../pkg/records/folder/folder.ts'
import { GroupBindings } from '../../pkg/registry/access/access.ts'
import { Catalog } from '../../pkg/registry/catalog/catalog.ts'
import { openReadCluster } from '../records/records.ts'

/** The place of the records, with what is needed to read them. */
export type RecordsSource = Pick<
  ExplainCommandOptions,
  'manifests' | 'kubeconfig' | 'apiGroup' | 'namespace' | 'archives'
>

interface Selection {
  readonly kinds: readonly Kind[]
  readonly namespace?: string | undefined
}

/**
 * Reads records once, as a server does.
 *
 * @param only which of a cluster are read; a folder is read as a whole
 * @throws OptionsError if they cannot be read
 */
export async function readRecords(
  options: RecordsSource,
  only: Selection,
): Promise<{ readonly bindings: GroupBindings; readonly catalog: Catalog }> {
  const { manifests, apiGroup, namespace } = options
  const log = createLogger('silent')
  const bindings = new GroupBindings({ namespace, log, metrics: createMetrics() })
  const firstBy = manifests === undefined ? 'creation' : 'arrival'
  const catalog = new Catalog({ apiGroup, firstBy })
  await readInto(fanOut(catalog, bindings), options, only)
  return { bindings, catalog }
}

/** Reads records once into a sink. @throws OptionsError if they cannot be read */
export async function readInto(
  sink: ComparableSink,
  options: RecordsSource,
  only: Selection,
): Promise<void> {
  const { manifests, kubeconfig, apiGroup, namespace, archives: filesystemMountPath } = options
  const log = createLogger('silent')
  const metrics = createMetrics()
  if (manifests !== undefined) {
    const archives = createArchives({ filesystemMountPath, log, metrics })
    const probe = archiveProbe(archives)
    const source = await watchManifests({ dir: manifests, apiGroup, sink, probe, log, metrics })
    return source.close()
  }
  const { cluster, untilRead } = openReadCluster({ kubeconfig, apiGroup })
  const scope = { watchNamespace: only.namespace, bindingsNamespace: namespace }
  await untilRead(cluster.watch({ kinds: only.kinds, scope, sink }).ready)
  await cluster.close()
}
