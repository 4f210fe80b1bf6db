import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { startTcpProxy, type TcpProxy } from '../hack/testbed/control-plane/tcp-proxy.ts'
import { type Watched, watchKubeconfig } from '../hack/testbed/control-plane/watched.ts'

const path = '/apis/depot.internal/v1alpha1/namespaces/team/modules'
const wait = { timeout: 60_000, interval: 100 }

let cluster: ControlPlane
let watched: Watched
let proxy: TcpProxy

beforeAll(async () => {
  cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases')
  await cluster.admin.request('POST', '/api/v1/namespaces', { metadata: { name: 'team' } })
  proxy = await startTcpProxy(cluster.port)
})
afterEach(async () => {
  await watched?.cluster.close()
})
afterAll(async () => {
  await proxy?.close()
  await cluster?.stop()
})

const put = (name: string, provider: string) =>
  cluster.admin.apply(`${path}/${name}`, {
    apiVersion: 'depot.internal/v1alpha1',
    kind: 'Module',
    metadata: { name, namespace: 'team' },
    spec: { moduleConfig: { provider } },
  })

const served = (name: string) => {
  const found = watched.sink.get('Module', 'team', name)
  return found?.kind === 'Module' ? found.spec.moduleConfig.provider : undefined
}

it('follows an etcd that was restored from a backup: removes lost objects, and serves new ones', async () => {
  await put('kept', 'old')
  const backup = join(cluster.directory, 'etcd-backup')
  await cluster.whileStopped((data) => cp(data, backup, { recursive: true }))

  watched = watchKubeconfig(cluster.kubeconfigFile, {
    timings: { backoffMs: 50, backoffCapMs: 1_000, idleMs: 4_000, headersMs: 4_000 },
  })
  await watched.cluster.ready
  for (let round = 0; round < 30; round += 1) await put('kept', `lost${round}`)
  await put('lost', 'lost')
  await vi.waitFor(() => expect([served('kept'), served('lost')]).toEqual(['lost29', 'lost']), wait)

  await cluster.whileStopped(async (data) => {
    await rm(data, { recursive: true })
    await rename(backup, data)
  })
  await vi.waitFor(() => expect([served('kept'), served('lost')]).toEqual(['old', undefined]), wait)
  await put('kept', 'new')
  await vi.waitFor(() => expect(served('kept')).toBe('new'), wait)
  const backwards = { kind: 'Module', reason: 'RevisionWentBack' }
  expect(await watched.metric('watch_relists_total', backwards)).toBe(1)
})

it('follows a restored etcd whose resourceVersions are higher than before when it is reachable again', async () => {
  await put('kept', 'old')
  const backup = join(cluster.directory, 'etcd-backup')
  await cluster.whileStopped((data) => cp(data, backup, { recursive: true }))

  const url = `https://127.0.0.1:${proxy.port}`
  watched = watchKubeconfig(await cluster.kubeconfig({ user: 'admin', url }), {
    timings: { backoffMs: 50, backoffCapMs: 1_000, idleMs: 4_000, headersMs: 4_000 },
  })
  await watched.cluster.ready
  await put('kept', 'lost')
  await put('lost', 'lost')
  await vi.waitFor(() => expect([served('kept'), served('lost')]).toEqual(['lost', 'lost']), wait)

  proxy.refuse(true)
  await cluster.whileStopped(async (data) => {
    await rm(data, { recursive: true })
    await rename(backup, data)
  })
  for (let round = 0; round < 100; round += 1) await put('other', `round${round}`)
  proxy.refuse(false)
  await vi.waitFor(
    () =>
      expect([served('kept'), served('lost'), served('other')]).toEqual([
        'old',
        undefined,
        'round99',
      ]),
    wait,
  )
  const relists = async (reason: string) =>
    watched.metric('watch_relists_total', { kind: 'Module', reason })
  expect([await relists('RecordsDiffer'), await relists('RevisionWentBack')]).toEqual([1, 0])
})
