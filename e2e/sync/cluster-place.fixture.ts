import type { ControlPlane } from '../../hack/testbed/control-plane/control-plane.ts'
import { kinds } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import type { ObjectPlace } from '../../pkg/records/store/conformance.fixture.ts'
import { clusterObjects } from '../../pkg/records/store/store.ts'

const apiGroup = 'depot.internal'
const log = createLogger('silent')

export const pathOf = (kind: string, namespace: string, name: string): string => {
  const { plural } = kinds[kind as keyof typeof kinds]
  return `/apis/${apiGroup}/v1alpha1/namespaces/${namespace}/${plural}/${name}`
}

type Timings = Parameters<typeof openCluster>[0]['timings']

/** Connects to a cluster as a program does. */
export function connect({ kubeconfigFile }: ControlPlane, timings: Timings = {}) {
  const connection = loadConnection({ kubeconfig: kubeconfigFile, env: {} })
  const metrics = createMetrics({ version: 'test' })
  return openCluster({ connection, apiGroup, log, metrics, timings })
}

/** The objects of one namespace of a cluster. A person writes with kubectl. */
export function clusterPlace(
  plane: ControlPlane,
  namespace: string,
  timings: Timings = {},
): ObjectPlace {
  return {
    async open() {
      const cluster = connect(plane, timings)
      const { client } = cluster
      const objects = clusterObjects({
        cluster,
        client,
        apiGroup,
        namespaces: [namespace],
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
}
