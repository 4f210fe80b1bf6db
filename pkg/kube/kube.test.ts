import { expect, it, vi } from 'vitest'
import { moduleObject, paths, startFakeCluster } from '../../hack/control-plane/fake-cluster.ts'

it('reads every kind by streamed lists and follows changes', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(paths.modules, moduleObject('a'))
      api.put(paths.modules, moduleObject('b'))
      api.put(paths.namespaces, { kind: 'Namespace', metadata: { name: 'team' } })
    },
  })
  await fake.cluster.ready
  expect(fake.cluster.synced()).toBe(true)
  expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001', 'team/b': '1002' })
  expect(fake.sink.versions('Namespace')).toEqual({ '/team': '1003' })
  expect(fake.api.requests.map((it) => it.path).toSorted()).toEqual(Object.values(paths).toSorted())

  fake.api.put(paths.modules, moduleObject('b', { provider: 'aws' }))
  fake.api.put(paths.modules, moduleObject('c'))
  fake.api.delete(paths.modules, 'a', 'team')
  await vi.waitFor(() =>
    expect(fake.sink.versions('Module')).toEqual({ 'team/b': '1004', 'team/c': '1005' }),
  )
  expect(fake.api.requests).toHaveLength(6)
})
