import { expect, it, vi } from 'vitest'
import {
  moduleObject,
  paths,
  startFakeCluster,
} from '../../hack/testbed/control-plane/fake-cluster.ts'

const bad = (name: string) => moduleObject(name, { fileFormat: 'rar' })
const rejected = { kind: 'Module', reason: 'schema' }

it('leaves an object out that is not valid, and keeps the others', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(paths.modules, moduleObject('good'))
      api.put(paths.modules, bad('bad'))
    },
  })
  await fake.cluster.ready
  expect(fake.sink.versions('Module')).toEqual({ 'team/good': '1001' })
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(1)
  expect(fake.logs.filter((line) => line.msg === 'object rejected')).toMatchObject([
    {
      level: 'warn',
      component: 'kube',
      kind: 'Module',
      namespace: 'team',
      name: 'bad',
      field: 'spec.moduleConfig.fileFormat',
      message: expect.stringContaining('zip'),
      resourceVersion: '1002',
    },
  ])
})

it('no longer serves an object that was good and is not now, until it is good again', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, moduleObject('a')),
  })
  await fake.cluster.ready
  fake.api.put(paths.modules, bad('a'))
  await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({}))
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(1)
  fake.api.put(paths.modules, moduleObject('a'))
  await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1003' }))
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(0)
})

it('logs a bad object once for each change, however often it is listed', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, bad('a')),
  })
  await fake.cluster.ready
  fake.api.send(paths.modules, 'nonsense\n')
  await vi.waitFor(() => expect(fake.sink.replacements).toBe(7))
  fake.api.put(paths.modules, bad('a'))
  await vi.waitFor(() =>
    expect(fake.logs.filter((line) => line.msg === 'object rejected')).toHaveLength(2),
  )
  fake.api.delete(paths.modules, 'a', 'team')
  await vi.waitFor(async () =>
    expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(0),
  )
})

it('goes on where taking an object in fails by a mistake of the reader', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, moduleObject('a')),
  })
  await fake.cluster.ready
  const apply = fake.sink.apply.bind(fake.sink)
  fake.sink.apply = (change) => {
    if (change.type === 'upsert' && change.resource.metadata.name === 'poison')
      throw new Error('no')
    apply(change)
  }
  fake.api.put(paths.modules, moduleObject('poison'))
  fake.api.put(paths.modules, moduleObject('b'))
  await vi.waitFor(() =>
    expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001', 'team/b': '1003' }),
  )
  const internal = { kind: 'Module', reason: 'internal' }
  expect(await fake.metric('catalog_rejected_objects', internal)).toBe(1)
})
