import type { ControlPlane } from '../../hack/testbed/control-plane/control-plane.ts'
import { kinds } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import {
  ApiError,
  type KubeClient,
  loadConnection,
  openCluster,
} from '../../pkg/records/kube/kube.ts'
import type { ObjectPlace } from '../../pkg/records/store/conformance.fixture.ts'
import { clusterObjects } from '../../pkg/records/store/store.ts'

const apiGroup = 'depot.internal'
const log = createLogger('silent')

export const pathOf = (kind: string, namespace: string, name: string): string => {
  const { plural } = kinds[kind as keyof typeof kinds]
  return `/apis/${apiGroup}/v1alpha1/namespaces/${namespace}/${plural}/${name}`
}

type Timings = Parameters<typeof openCluster>[0]['timings']

/** Connects to a cluster like a program. */
export function connect({ kubeconfigFile }: ControlPlane, timings: Timings = {}) {
  const connection = loadConnection({ kubeconfig: kubeconfigFile, env: {} })
  const metrics = createMetrics({ version: 'test' })
  return openCluster({ connection, apiGroup, log, metrics, timings })
}

/** Reads a ConfigMap. One whose owner was deleted does not count, because no garbage collector runs in these clusters. */
export async function configMapOf(
  { admin }: ControlPlane,
  namespace: string,
  name: string,
): Promise<unknown> {
  const [found] = await orNone(admin.request('GET', configMapPath(namespace, name)))
  if (found === undefined) return undefined
  const { metadata } = found as {
    metadata: { ownerReferences?: { kind: string; name: string; uid: string }[] }
  }
  const [owner] = metadata.ownerReferences ?? []
  if (owner === undefined) return found
  const [held] = await orNone(admin.request('GET', pathOf(owner.kind, namespace, owner.name)))
  const { uid } = (held as { metadata?: { uid: string } } | undefined)?.metadata ?? {}
  return uid === owner.uid ? found : undefined
}

export const configMapPath = (namespace: string, name: string): string =>
  `/api/v1/namespaces/${namespace}/configmaps/${name}`

const orNone = (asked: Promise<unknown>): Promise<unknown[]> =>
  asked.then(
    (found) => [found],
    () => [],
  )

/**
 * Answers reads of notes that nobody has written, of which each start has 16: they would take a fifth of the processor time of
 * short tests.
 *
 * @param written names of the others
 */
function sparing(client: KubeClient, written: Set<string>): KubeClient {
  const [get, create] = [client.get.bind(client), client.create.bind(client)]
  const notes = 'depot-removals-'
  return Object.assign(client, {
    get(...[ref, ...rest]: Parameters<KubeClient['get']>) {
      if (ref.kind !== 'ConfigMap' || !ref.name.startsWith(notes) || written.has(ref.name)) {
        return get(ref, ...rest)
      }
      return Promise.reject(new ApiError('NotFound', `there is no ConfigMap ${ref.name}`))
    },
    create(...[object, ...rest]: Parameters<KubeClient['create']>) {
      if (object.metadata.name?.startsWith(notes)) written.add(object.metadata.name)
      return create(object, ...rest)
    },
  })
}

/** The objects of one namespace of a cluster. A person writes with kubectl. */
export function clusterPlace(
  plane: ControlPlane,
  namespace: string,
  timings: Timings = {},
): ObjectPlace {
  const written = new Set<string>()
  return {
    async open() {
      const cluster = connect(plane, timings)
      const client = sparing(cluster.client, written)
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
    configMap: (_, name) => configMapOf(plane, namespace, name),
    async writeSecret(_, name, values) {
      const secret = { metadata: { name }, stringData: values }
      await plane.admin.request('POST', `/api/v1/namespaces/${namespace}/secrets`, secret)
    },
    close: async () => undefined,
  }
}
