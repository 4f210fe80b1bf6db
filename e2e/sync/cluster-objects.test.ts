import { afterAll, beforeAll } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { kinds } from '../../pkg/apis/v1alpha1/v1alpha1.ts'
import { type Cluster, loadConnection, openCluster } from '../../pkg/kube/kube.ts'
import { objectsConformance } from '../../pkg/objects/conformance.fixture.ts'
import { clusterObjects, type Objects } from '../../pkg/objects/objects.ts'
import { createLogger, createMetrics } from '../../pkg/telemetry/telemetry.ts'

let plane: ControlPlane
const clusters: Cluster[] = []
const log = createLogger('silent')

const pathOf = (kind: string, namespace: string, name: string): string => {
  const { plural } = kinds[kind as keyof typeof kinds]
  return `/apis/depot.internal/v1alpha1/namespaces/${namespace}/${plural}/${name}`
}

async function open(namespaces?: readonly string[]): Promise<Objects> {
  const connection = loadConnection({ kubeconfig: plane.kubeconfigFile, env: {} })
  const metrics = createMetrics({ version: 'test' })
  const apiGroup = 'depot.internal'
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  clusters.push(cluster)
  const { client } = cluster
  return clusterObjects({ cluster, client, apiGroup, namespaces, instance: 'test', log })
}

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
})
afterAll(async () => {
  await Promise.all(clusters.map((cluster) => cluster.close()))
  await plane?.stop()
})

objectsConformance('a cluster', async () => ({
  open: () => open(),
  async write(manifest) {
    const { name, namespace } = manifest.metadata
    await plane.admin.apply(pathOf(manifest.kind, namespace, name), manifest, 'kubectl')
  },
  async remove({ kind, namespace, name }) {
    await plane.admin.request('DELETE', pathOf(kind, namespace, name))
  },
  async writeSecret(namespace, name, values) {
    const secret = { metadata: { name }, stringData: values }
    await plane.admin.request('POST', `/api/v1/namespaces/${namespace}/secrets`, secret)
  },
  close: async () => undefined,
}))
