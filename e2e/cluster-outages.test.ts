import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  type ControlPlane,
  startControlPlane,
} from '../hack/testbed/control-plane/control-plane.ts'
import { applyManifests } from '../hack/testbed/control-plane/manifests.ts'
import { startTcpProxy, type TcpProxy } from '../hack/testbed/control-plane/tcp-proxy.ts'
import { type Watched, watchKubeconfig } from '../hack/testbed/control-plane/watched.ts'
import type { Kind } from '../pkg/api/v1alpha1/v1alpha1.ts'

const root = '/apis/depot.internal/v1alpha1'
const namespaces = ['one', 'two']
const wait = { timeout: 60_000, interval: 100 }

let cluster: ControlPlane
let proxy: TcpProxy
let watched: Watched

beforeAll(async () => {
  cluster = await startControlPlane()
  await applyManifests(cluster.admin, 'config/crd/bases', 'config/rbac')
  for (const name of namespaces) {
    await cluster.admin.request('POST', '/api/v1/namespaces', { metadata: { name } })
  }
  proxy = await startTcpProxy(cluster.port)
  const token = await cluster.serviceAccountToken('depot-system', 'depot-server')
  const url = `https://127.0.0.1:${proxy.port}`
  watched = watchKubeconfig(await cluster.kubeconfig({ token, url }), {
    timings: { backoffMs: 50, backoffCapMs: 1_000, idleMs: 3_000, headersMs: 3_000 },
  })
  await watched.cluster.ready
})
afterAll(async () => {
  await watched?.cluster.close()
  await proxy?.close()
  await cluster?.stop()
})

const version = (namespace: string, name: string, fileName: string) => ({
  apiVersion: 'depot.internal/v1alpha1',
  kind: 'Version',
  metadata: { name, namespace },
  spec: { type: 'Module', version: '1.0.0', fileName },
})

const put = (namespace: string, name: string, fileName = 'a.zip') =>
  cluster.admin.apply(
    `${root}/namespaces/${namespace}/versions/${name}`,
    version(namespace, name, fileName),
  )

const remove = (namespace: string, name: string) =>
  cluster.admin.send('DELETE', `${root}/namespaces/${namespace}/versions/${name}`)

/** The objects of the API server, in the form of the sink. */
async function fresh(path: string): Promise<Record<string, string>> {
  const { items } = (await cluster.admin.request('GET', path)) as {
    items: { metadata: { namespace?: string; name: string; resourceVersion: string } }[]
  }
  const rows = items.map(({ metadata }) => [
    `${metadata.namespace ?? ''}/${metadata.name}`,
    metadata.resourceVersion,
  ])
  return Object.fromEntries(rows) as Record<string, string>
}

/** Compares object by object, by resourceVersion: nothing is missing, older or left over. */
async function untilEqual(kind: Kind = 'Version', path = `${root}/versions`): Promise<void> {
  // Shortly after its start, an API server answers 429 for a while.
  const expected = await vi.waitFor(() => fresh(path), wait)
  await vi.waitFor(() => expect(watched.sink.versions(kind)).toEqual(expected), wait)
}

/** Writes a change every few milliseconds, as long as the API server accepts it. */
function writeChanges() {
  const end = new AbortController()
  let written = 0
  const done = (async () => {
    for (let i = 0; !end.signal.aborted; i++) {
      const namespace = namespaces[i % 2] ?? ''
      const name = `changing-${i % 40}`
      const work = i % 7 === 6 ? remove(namespace, name) : put(namespace, name, `${i}.zip`)
      written += await work.then(
        () => 1,
        () => 0,
      )
      await sleep(15)
    }
  })()
  return {
    /** Waits for this number of further changes. */
    async wrote(more: number) {
      const before = written
      await vi.waitFor(() => expect(written).toBeGreaterThanOrEqual(before + more), wait)
    },
    async stop() {
      end.abort()
      await done
      return written
    },
  }
}

const relists = async (reason: string) =>
  watched.metric('watch_relists_total', { kind: 'Version', reason })

describe('connections through a proxy', () => {
  it('lose nothing when they are cut repeatedly', async () => {
    const writer = writeChanges()
    for (let i = 0; i < 20; i++) {
      await writer.wrote(2)
      proxy.cut()
    }
    expect(await writer.stop()).toBeGreaterThanOrEqual(40)
    await untilEqual()
  })

  it('are replaced when they stall, and the changes since then are read', async () => {
    await put('one', 'before')
    await untilEqual()
    proxy.stall(true)
    await put('one', 'meanwhile')
    await vi.waitFor(async () => {
      const idle = { kind: 'Version', reason: 'StreamIdle' }
      expect(await watched.metric('watch_restarts_total', idle)).toBeGreaterThan(0)
    }, wait)
    proxy.stall(false)
    await untilEqual()
  })

  it('only delay changes when they are slow', async () => {
    proxy.delay(300)
    await put('one', 'slow')
    await untilEqual()
    proxy.delay(0)
    expect(watched.sink.get('Version', 'one', 'slow')).toBeDefined()
  })
})

describe('an API server', () => {
  it.each([
    { how: 'kill', times: 4 },
    { how: 'stop', times: 1 },
  ] as const)(
    'is followed to the same state after it goes down by $how during writes',
    async ({ how, times }) => {
      const writer = writeChanges()
      for (let i = 0; i < times; i++) {
        await cluster.stopApiServer(how)
        await cluster.startApiServer()
        await writer.wrote(10)
      }
      await writer.stop()
      await untilEqual()
      await untilEqual('Namespace', '/api/v1/namespaces')
      const fatal = watched.logs.filter((line) => line['reason'] === 'Internal')
      expect(fatal).toEqual([])
    },
  )

  it('is listed again after it has compacted its history', async () => {
    const before = await relists('RevisionExpired')
    await put('one', 'compacted')
    await untilEqual()
    // The watches must not stall, because a long silence causes a list anyway.
    proxy.refuse(true)
    await put('one', 'in-the-gap')
    await remove('one', 'compacted')
    await cluster.compact()
    // The watch cache still has what etcd compacted, so a new process has to answer.
    await cluster.stopApiServer('kill')
    await cluster.startApiServer()
    await cluster.compact()
    await vi.waitFor(() => fresh(`${root}/versions`), wait)
    proxy.refuse(false)
    await untilEqual()
    expect(watched.sink.get('Version', 'one', 'compacted')).toBeUndefined()
    expect(await relists('RevisionExpired')).toBeGreaterThan(before)
  })
})

describe('objects', () => {
  it('are read up to 1.4 MB', async () => {
    const finding = (i: number) => ({ vulnerabilityID: `CVE-${i}`, title: 'x'.repeat(1_000) })
    const findings = Array.from({ length: 1_300 }, (_, i) => finding(i))
    await put('one', 'large')
    await cluster.admin.request(
      'PATCH',
      `${root}/namespaces/one/versions/large/status`,
      { status: { sourceScan: { findings } } },
      'application/merge-patch+json',
    )
    await untilEqual()
    expect(watched.sink.get('Version', 'one', 'large')).toMatchObject({
      status: { sourceScan: { findings: { length: 1_300 } } },
    })
    await remove('one', 'large')
  })

  it('are replaced when they are deleted and created again with the same name', async () => {
    await put('one', 'again', 'old.zip')
    await remove('one', 'again')
    await put('one', 'again', 'new.zip')
    await untilEqual()
    expect(watched.sink.get('Version', 'one', 'again')).toMatchObject({
      spec: { fileName: 'new.zip' },
    })
  })

  it('are all known after a burst of thousands', async () => {
    const count = Number(process.env['DEPOT_E2E_BURST'] ?? 2_000)
    const names = Array.from({ length: count }, (_, i) => `burst-${i}`)
    const workers = Array.from({ length: 16 }, async () => {
      for (let name = names.pop(); name !== undefined; name = names.pop()) {
        const body = version('two', name, 'a.zip')
        await cluster.admin.request('POST', `${root}/namespaces/two/versions`, body)
      }
    })
    await Promise.all(workers)
    await untilEqual()
    expect(watched.sink.get('Version', 'two', 'burst-0')).toBeDefined()
  })

  it('are removed after they were deleted with their namespace', async () => {
    // No controller empties a namespace here, so this deletes the collection as the controller would. It repeats that if the
    // API server has ended the request after a minute with objects left.
    const versions = `${root}/namespaces/two/versions`
    const emptying = { timeout: 150_000, interval: 100 }
    await vi.waitFor(() => cluster.admin.request('DELETE', versions), emptying)
    await cluster.admin.request('DELETE', '/api/v1/namespaces/two')
    await untilEqual()
    const left = Object.keys(watched.sink.versions('Version'))
    expect(left.filter((key) => key.startsWith('two/'))).toEqual([])
  })
})
