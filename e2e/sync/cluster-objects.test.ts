import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { kinds } from '../../pkg/api/v1alpha1/v1alpha1.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { type Cluster, loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { objectsConformance } from '../../pkg/records/store/conformance.fixture.ts'
import { clusterObjects, type Objects } from '../../pkg/records/store/store.ts'
import { configMapOf, configMapPath } from './cluster-place.fixture.ts'

let plane: ControlPlane
const clusters: Cluster[] = []
const log = createLogger('silent')
const apiGroup = 'depot.internal'

const pathOf = (kind: string, namespace: string, name: string): string => {
  const { plural } = kinds[kind as keyof typeof kinds]
  return `/apis/depot.internal/v1alpha1/namespaces/${namespace}/${plural}/${name}`
}

function connect(kubeconfig = plane.kubeconfigFile): Cluster {
  const connection = loadConnection({ kubeconfig, env: {} })
  const metrics = createMetrics({ version: 'test' })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  clusters.push(cluster)
  return cluster
}

async function open(namespaces?: readonly string[]): Promise<Objects> {
  const cluster = connect()
  const { client } = cluster
  return clusterObjects({
    cluster,
    client,
    apiGroup,
    namespaces,
    notes: { namespace: 'default', name: 'depot-removals' },
    instance: 'test',
    log,
  })
}

beforeAll(async () => {
  plane = await startControlPlane({ users: { nobody: [] } })
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
  configMap: (namespace, name) => configMapOf(plane, namespace, name),
  async writeSecret(namespace, name, values) {
    const secret = { metadata: { name }, stringData: values }
    await plane.admin.request('POST', `/api/v1/namespaces/${namespace}/secrets`, secret)
  },
  close: async () => undefined,
}))

const network = { kind: 'Module', namespace: 'team', name: 'network' } as const
const spec = { moduleConfig: { name: 'network', provider: 'aws' }, versions: [] }

it('says which right is missing', async () => {
  const { client } = connect(await plane.kubeconfig({ user: 'nobody' }))
  const refused = client.patch(network, { spec: { forceSync: true } })
  await expect(refused).rejects.toMatchObject({ name: 'ApiError', reason: 'Forbidden' })
  await expect(refused).rejects.toThrow(/cannot patch resource "modules" in API group/)
  await expect(client.get(network)).rejects.toThrow('give its Role or ClusterRole this right')
})

it('reads and writes only in watched namespaces', async () => {
  const { namespace, name } = network
  await plane.admin.apply(pathOf('Module', namespace, name), {
    apiVersion: `${apiGroup}/v1alpha1`,
    kind: 'Module',
    metadata: { namespace, name },
    spec,
  })
  const objects = await open(['elsewhere'])
  await objects.ready
  expect(objects.list('Module')).toEqual([])
  const outside = objects.apply({ kind: 'Module', metadata: { namespace, name }, spec })
  await expect(outside).rejects.toThrow('--watch-namespaces')
  await objects.close()
})

describe('the README of a version', () => {
  const name = 'network-9-0-0'
  const path = configMapPath('team', `${name}-readme`)
  const read = () =>
    plane.admin.request('GET', path) as Promise<{
      metadata: { uid: string; ownerReferences?: object[] }
      data: Record<string, string>
    }>
  const labels = { 'depot.internal/readme': 'true' }
  const put = (metadata: object, data: object) =>
    plane.admin.request('POST', '/api/v1/namespaces/team/configmaps', {
      metadata: { name: `${name}-readme`, ...metadata },
      data,
    })
  const started = async () => {
    const objects = await open(['team'])
    onTestFinished(() => objects.close())
    await objects.ready
    const moduleConfigRef = { name: 'network', provider: 'aws' }
    const version = await objects.apply({
      kind: 'Version',
      metadata: { namespace: 'team', name },
      spec: { type: 'Module', version: '9.0.0', moduleConfigRef },
    })
    return { objects, version }
  }

  it('leaves a ConfigMap of another owner unchanged', async () => {
    const { objects, version } = await started()
    await put({}, { 'app.conf': 'x = 1' })
    const writing = objects.writeReadme(version, { readme: '# Ours' })
    await expect(writing).rejects.toMatchObject({ reason: 'Conflict' })
    await expect(writing).rejects.toThrow('rename or delete it')
    await objects.writeReadme(version, undefined)
    expect((await read()).data).toEqual({ 'app.conf': 'x = 1' })
    await plane.admin.request('DELETE', path)
  })

  it.each([
    ['that a backup restored', { labels }],
    [
      'of a version that was deleted and made again',
      {
        labels,
        ownerReferences: [
          { apiVersion: `${apiGroup}/v1alpha1`, kind: 'Version', name, uid: crypto.randomUUID() },
        ],
      },
    ],
  ])('takes over a ConfigMap %s', async (_, metadata) => {
    const { objects, version } = await started()
    await put(metadata, { 'README.md': 'b2xk' })
    await objects.writeReadme(version, { readme: '# New' })
    const { metadata: after, data } = await read()
    expect(after.ownerReferences).toMatchObject([{ name, uid: version.metadata.uid }])
    expect(Buffer.from(data['README.md'] ?? '', 'base64').toString()).toBe('# New\n')
    await plane.admin.request('DELETE', path)
  })
})

it('writes the same event of an object once in ten minutes', async () => {
  const objects = await open(['team'])
  await objects.ready
  const object = objects.get('Module', network.namespace, network.name)
  if (object === undefined) throw new Error('the module is not there')
  const event = { object, type: 'Warning', reason: 'SyncFailed', note: 'no such tag' } as const
  for (let i = 0; i < 5; i += 1) objects.event(event)
  objects.event({ ...event, note: 'another one' })
  await objects.close()
  const path = '/apis/events.k8s.io/v1/namespaces/team/events'
  const { items } = (await plane.admin.request('GET', path)) as {
    items: { reason: string; note: string; regarding: { kind: string; name: string } }[]
  }
  const told = items.filter(({ regarding }) => regarding.name === network.name)
  expect(told.map(({ note }) => note).toSorted()).toEqual(['another one', 'no such tag'])
  expect(told[0]).toMatchObject({ reason: 'SyncFailed', type: 'Warning' })
})

it('says that the API server is unreachable', async () => {
  const { client } = connect()
  await plane.stopApiServer('kill')
  await expect(client.get(network)).rejects.toMatchObject({ reason: 'Unavailable' })
  await plane.startApiServer()
  expect(await client.get(network)).toMatchObject({ metadata: { name: 'network' } })
})
