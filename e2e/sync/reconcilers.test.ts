import { afterAll, beforeAll } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { kinds } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { syncScenarios } from '../../pkg/fill/sync/scenarios.fixture.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { clusterObjects } from '../../pkg/records/store/store.ts'

let plane: ControlPlane
const log = createLogger('silent')

const pathOf = (kind: string, namespace: string, name: string): string => {
  const { plural } = kinds[kind as keyof typeof kinds]
  return `/apis/depot.internal/v1alpha1/namespaces/${namespace}/${plural}/${name}`
}

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
})
afterAll(() => plane?.stop())

syncScenarios('a cluster', async (namespace) => {
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: namespace } })
  return {
    async open() {
      const connection = loadConnection({ kubeconfig: plane.kubeconfigFile, env: {} })
      const apiGroup = 'depot.internal'
      const metrics = createMetrics({ version: 'test' })
      const cluster = openCluster({ connection, apiGroup, log, metrics })
      const { client } = cluster
      const namespaces = [namespace]
      const objects = clusterObjects({
        cluster,
        client,
        apiGroup,
        namespaces,
        notes: { namespace, name: 'depot-removals' },
        instance: 'test',
        log,
      })
      return {
        ...objects,
        get: objects.get.bind(objects),
        async close() {
          await objects.close()
          await cluster.close()
        },
      }
    },
    async write(manifest) {
      const { name } = manifest.metadata
      await plane.admin.apply(pathOf(manifest.kind, namespace, name), manifest, 'kubectl')
    },
    async remove({ kind, name }) {
      await plane.admin.request('DELETE', pathOf(kind, namespace, name))
    },
    async writeSecret(_, name, values) {
      const secret = { metadata: { name }, stringData: values }
      await plane.admin.request('POST', `/api/v1/namespaces/${namespace}/secrets`, secret)
    },
    close: async () => undefined,
  }
})
