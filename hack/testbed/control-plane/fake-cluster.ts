import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Authority, createAuthority } from './certificates.ts'
import { FakeApiServer, type FakeObject } from './fake-api-server.ts'
import { kubeconfigOf } from './kubeconfig.ts'
import { type Watched, type WatchOptions, watchKubeconfig } from './watched.ts'

/** Short waits without randomness. Waits for a server that says nothing are long, because a busy machine delays answers. */
export const fastTimings = {
  backoffMs: 10,
  backoffCapMs: 80,
  headersMs: 60_000,
  pageMs: 20_000,
  idleMs: 60_000,
  shortWatchMs: 20,
  comparingShare: 1,
}

export interface FakeCluster extends Watched, AsyncDisposable {
  readonly api: FakeApiServer
  readonly authority: Authority
  readonly directory: string
}

/**
 * A fake API server and a watch of it.
 *
 * @param prepare runs before the watch begins
 */
export async function startFakeCluster({
  prepare,
  kubeconfig,
  ...options
}: WatchOptions & {
  prepare?: (api: FakeApiServer) => void
  /** Makes the content of the kubeconfig file from the server's address and authority. */
  kubeconfig?: (server: { url: string; ca: string; directory: string }) => string
} = {}): Promise<FakeCluster> {
  // Loading it takes longer than a test waits for an answer.
  await import('@kubernetes/client-node')
  const directory = mkdtempSync(join(tmpdir(), 'depot-fake-cluster-'))
  const authority = createAuthority(join(directory, 'pki'))
  const api = new FakeApiServer(authority.server('fake'))
  await api.start()
  prepare?.(api)
  const file = join(directory, 'kubeconfig')
  const server = { url: api.url, ca: authority.cert, directory }
  writeFileSync(file, kubeconfig?.(server) ?? kubeconfigOf({ ...server, token: 'secret' }))
  const watched = watchKubeconfig(file, {
    random: () => 0.5,
    timings: fastTimings,
    ...options,
  })
  return {
    ...watched,
    api,
    authority,
    directory,
    async [Symbol.asyncDispose]() {
      await watched.cluster.close()
      await api.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** Path of a resource in the fake API server's address. */
export const paths = {
  modules: '/apis/depot.internal/v1alpha1/modules',
  providers: '/apis/depot.internal/v1alpha1/providers',
  versions: '/apis/depot.internal/v1alpha1/versions',
  depots: '/apis/depot.internal/v1alpha1/depots',
  groupBindings: '/apis/depot.internal/v1alpha1/namespaces/depot-system/groupbindings',
  namespaces: '/api/v1/namespaces',
} as const

export function moduleObject(name: string, fields: Record<string, unknown> = {}): FakeObject {
  const metadata = { name, namespace: 'team' }
  return { kind: 'Module', metadata, spec: { moduleConfig: { name, ...fields } } }
}

export const configMaps = '/api/v1/configmaps'

/** A README as a controller keeps it; with the label it is watched, without it is asked for by name. */
export function readmeObject(
  name: string,
  text: string,
  { labelled = true, owner = 'v1' } = {},
): FakeObject {
  const labels = labelled ? { 'depot.internal/readme': 'true' } : {}
  const apiVersion = 'depot.internal/v1alpha1'
  const ownerReferences = labelled ? [] : [{ apiVersion, kind: 'Version', name: owner, uid: 'u' }]
  const metadata = { name, namespace: 'team', labels, ownerReferences }
  return { kind: 'ConfigMap', metadata, data: { README: Buffer.from(text).toString('base64') } }
}
