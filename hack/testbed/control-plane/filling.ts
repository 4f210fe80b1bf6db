import { join } from 'node:path'
import { startUpstreams } from '../upstream/upstreams.ts'
import type { ControlPlane } from './control-plane.ts'

/** A Depot in a cluster, and the upstreams that fill it. */
export interface Filling {
  readonly namespace: string
  /** Flags of `depot controller`. */
  readonly flags: readonly string[]
  close(): Promise<void>
}

const namespace = 'upstream'

/**
 * Starts test servers for GitHub and a signed registry, and applies a Depot that requests their modules and providers.
 *
 * @param dir the controller's folder for archives in transit
 */
export async function prepareFilling({ admin }: ControlPlane, dir: string): Promise<Filling> {
  const upstreams = await startUpstreams()
  for (const version of ['1.0.0', '1.1.0']) {
    upstreams.github.tag('acme/vpc', `v${version}`, {
      'main.tf': `output "version" {\n  value = "${version}"\n}\n`,
      'README.md': '# vpc\n\nA module of a test server for GitHub.\n',
    })
    await upstreams.provider('acme/dns', version)
  }
  await admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  const path = `/apis/depot.internal/v1alpha1/namespaces/${namespace}/depots/main`
  await admin.apply(path, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Depot',
    metadata: { name: 'main', namespace },
    spec: {
      pollingIntervalMinutes: 1,
      global: { storageConfig: { fileSystem: { directoryPath: namespace } } },
      moduleConfigs: [{ name: 'vpc', provider: 'aws', repoOwner: 'acme' }],
      providerConfigs: [{ name: 'dns', namespace: 'acme' }],
    },
  })
  return {
    namespace,
    flags: [`--spool-dir=${join(dir, 'spool')}`, ...upstreams.flags],
    async close() {
      await upstreams[Symbol.asyncDispose]()
    },
  }
}
