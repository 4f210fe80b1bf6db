import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../../hack/testbed/control-plane/manifests.ts'
import { createLogger, createMetrics } from '../../pkg/base/telemetry/telemetry.ts'
import { largestVersions, writeLargestStatus } from '../../pkg/fill/sync/large-parent.fixture.ts'
import { loadConnection, openCluster } from '../../pkg/records/kube/kube.ts'
import { clusterObjects, type Objects } from '../../pkg/records/store/store.ts'

/*
 * An API server stores no object of more than 1.5 MiB and reads no request of more than 3 MiB. The list of Versions in a parent
 * has to fit in addition to a spec that names all of them.
 */

const count = 10_000
const apiGroup = 'depot.internal'
const name = 'n'.repeat(60)
const versions = largestVersions(count)
let plane: ControlPlane
let objects: Objects
let close: () => Promise<void>

beforeAll(async () => {
  plane = await startControlPlane()
  await applyManifests(plane.admin, 'config/crd/bases')
  await plane.admin.send('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  const connection = loadConnection({ kubeconfig: plane.kubeconfigFile, env: {} })
  const log = createLogger('silent')
  const metrics = createMetrics({ version: 'test' })
  const cluster = openCluster({ connection, apiGroup, log, metrics })
  const { client } = cluster
  objects = clusterObjects({
    cluster,
    client,
    apiGroup,
    notes: { namespace: 'default', name: 'depot-removals' },
    instance: 'test',
    log,
  })
  await objects.ready
  close = async () => {
    await objects.close()
    await cluster.close()
  }
})
afterAll(async () => {
  await close?.()
  await plane?.stop()
})

it.each([
  { kind: 'Module', config: { moduleConfig: { name, provider: 'aws' } } },
  { kind: 'Provider', config: { providerConfig: { name } } },
] as const)('a $kind with 10,000 versions fits into etcd', async ({ kind, config }) => {
  const path = `/apis/depot.internal/v1alpha1/namespaces/team/${kind.toLowerCase()}s/${name}`
  const manifest = {
    apiVersion: 'depot.internal/v1alpha1',
    kind,
    metadata: { name, namespace: 'team' },
    spec: { ...config, versions: versions.map((version) => ({ version })) },
  }
  await plane.admin.apply(path, manifest, 'kubectl')
  const object = await objects.fresh(kind, 'team', name)
  if (object === undefined) throw new Error(`there is no ${kind}`)
  await writeLargestStatus(objects, object, versions)

  const stored = (await plane.admin.request('GET', path)) as { status: Record<string, unknown> }
  expect(JSON.stringify(stored).length).toBeLessThan(1_200_000)
  const refs = stored.status[`${kind.toLowerCase()}VersionRefs`] as Record<string, unknown>
  expect(stored.status['versionCounts']).toEqual({
    wanted: count,
    synced: count,
    failed: 0,
    listed: Object.keys(refs).length,
  })
  // The newest versions.
  expect(Object.keys(refs)).toHaveLength(1000)
  expect(Object.keys(refs).every((version) => Number.parseInt(version) >= 90)).toBe(true)
})
