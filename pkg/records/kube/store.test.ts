import { expect, it, vi } from 'vitest'
import { bookmarkLine, eventLine } from '../../../hack/testbed/control-plane/fake-answers.ts'
import { faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

const bad = (name: string) => moduleObject(name, { fileFormat: 'rar' })
const rejected = { kind: 'Module', reason: 'Invalid' }

it('leaves out an invalid object, and keeps the others', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.put(paths.modules, moduleObject('good'))
      api.put(paths.modules, bad('bad'))
    },
  })
  await fake.cluster.ready
  expect(fake.sink.versions('Module')).toEqual({ 'team/good': '1001' })
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(1)
  // A series for each reason, even for those that only a folder has, so that dashboards need not know the source.
  for (const reason of ['InvalidSyntax', 'Duplicate', 'Unreadable', 'Internal']) {
    expect(await fake.metric('catalog_rejected_objects', { kind: 'Module', reason })).toBe(0)
  }
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

it('serves the last valid state of an object that becomes invalid, until it is valid again or deleted', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, moduleObject('a')),
  })
  await fake.cluster.ready
  fake.api.put(paths.modules, bad('a'))
  await vi.waitFor(async () =>
    expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(1),
  )
  expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001' })
  fake.api.send(paths.modules, 'nonsense\n')
  await vi.waitFor(() => expect(fake.sink.replacements).toBe(7))
  await vi.waitFor(() => expect(fake.api.watchesOf(paths.modules)).toBe(1))
  expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001' })
  fake.api.put(paths.modules, moduleObject('a'))
  await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1003' }))
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(0)
  fake.api.put(paths.modules, bad('a'))
  fake.api.delete(paths.modules, 'a', 'team')
  await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({}))
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(0)
})

it('forgets an invalid object that was deleted while the list was streamed', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => {
      api.faults.push(
        faultAt(paths.modules, (response) => {
          response.writeHead(200)
          const invalid = {
            ...bad('gone'),
            metadata: { ...bad('gone').metadata, resourceVersion: '7' },
          }
          response.write(eventLine('ADDED', invalid))
          response.write(eventLine('DELETED', invalid))
          response.write(bookmarkLine('1001', true))
        }),
      )
    },
  })
  await fake.cluster.ready
  expect(await fake.metric('catalog_rejected_objects', rejected)).toBe(0)
})

it('reports once for each change which part of an object cannot work, and serves the object', async () => {
  const named = (provider: string) => moduleObject('a', { provider })
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, named('aws-gov')),
  })
  await fake.cluster.ready
  fake.api.send(paths.modules, 'nonsense\n')
  await vi.waitFor(() => expect(fake.sink.replacements).toBe(7))
  fake.api.put(paths.modules, named('awsgov'))
  await vi.waitFor(() => expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1002' }))
  expect(fake.logs.filter((line) => line.msg === 'object cannot work as it is')).toMatchObject([
    {
      kind: 'Module',
      namespace: 'team',
      name: 'a',
      field: 'spec.moduleConfig.provider',
      message: expect.stringContaining('write awsgov instead of aws-gov'),
    },
  ])
})

it('logs an invalid object once for each change, however often it is listed', async () => {
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

it('continues if a bug of the reader rejects an object', async () => {
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
  const internal = { kind: 'Module', reason: 'Internal' }
  expect(await fake.metric('catalog_rejected_objects', internal)).toBe(1)
})
