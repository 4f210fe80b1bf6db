import { describe, expect, it, vi } from 'vitest'
import { type FakeApiServer, faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

it('reads every kind by streamed lists and follows changes', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(paths.modules, moduleObject('a'))
      api.put(paths.modules, moduleObject('b'))
      api.put(paths.namespaces, { kind: 'Namespace', metadata: { name: 'team' } })
    },
  })
  await fake.cluster.ready
  expect(await fake.metric('catalog_synced', { kind: 'Module' })).toBe(1)
  expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001', 'team/b': '1002' })
  expect(fake.sink.versions('Namespace')).toEqual({ '/team': '1003' })
  expect(fake.api.requests.map((request) => request.path).toSorted()).toEqual(
    Object.values(paths).toSorted(),
  )

  fake.api.put(paths.modules, moduleObject('b', { provider: 'aws' }))
  fake.api.put(paths.modules, moduleObject('c'))
  fake.api.delete(paths.modules, 'a', 'team')
  await vi.waitFor(() =>
    expect(fake.sink.versions('Module')).toEqual({ 'team/b': '1004', 'team/c': '1005' }),
  )
  expect(fake.api.requests).toHaveLength(6)
})

describe('close', () => {
  const hang = (api: FakeApiServer) => {
    for (const path of Object.values(paths)) api.faults.push(faultAt(path, () => {}))
  }
  it.each([
    { name: 'before anything has come', prepare: hang },
    { name: 'while it waits to try again', prepare: (api: FakeApiServer) => void api.stop() },
    { name: 'while it watches', prepare: () => {} },
  ])('ends everything $name', async ({ prepare }) => {
    const timings = { backoffMs: 60_000, headersMs: 60_000 }
    await using fake = await startFakeCluster({ prepare, timings })
    await vi.waitFor(() => {
      const known = fake.logs.length + fake.api.requests.length
      expect(known).toBeGreaterThanOrEqual(6)
    })
    await fake.cluster.close()
    const asked = fake.api.requests.length
    fake.api.put(paths.modules, moduleObject('late'))
    await vi.waitFor(() => expect(fake.api.openConnections).toBe(0))
    expect(fake.api.requests).toHaveLength(asked)
    expect(fake.sink.get('Module', 'team', 'late')).toBeUndefined()
  })
})

it('reports when the API server was heard from last, and that every kind is read', async () => {
  await using fake = await startFakeCluster({ clock: () => 1_700_000_000_000 })
  expect(await fake.metric('catalog_synced', { kind: 'Depot' })).toBe(0)
  await fake.cluster.ready
  expect(await fake.metric('catalog_synced', { kind: 'Depot' })).toBe(1)
  const contact = await fake.metric('watch_last_contact_timestamp_seconds', { kind: 'Depot' })
  expect(contact).toBe(1_700_000_000)
})

it('knows the time of the API server, whatever the clock of this machine', async () => {
  await using fake = await startFakeCluster({ clock: () => 1_700_000_000_000 })
  expect(fake.cluster.serverClock()).toBe(1_700_000_000_000)
  await fake.cluster.ready
  expect(Math.abs(fake.cluster.serverClock() - Date.now())).toBeLessThan(60_000)
})
