import { describe, expect, it, vi } from 'vitest'
import { sendStatus } from '../../../hack/testbed/control-plane/fake-answers.ts'
import { type FakeApiServer, faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  fastTimings,
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

const fill = (api: FakeApiServer, count: number, provider = 'aws') => {
  for (let i = 0; i < count; i++) api.put(paths.modules, moduleObject(`m${i}`, { provider }))
}

describe('a server that cannot stream lists', () => {
  const older = (count: number, provider?: string) => (api: FakeApiServer) => {
    api.streamsLists = false
    fill(api, count, provider)
  }

  it('is read in pages of one moment, and watched from there', async () => {
    await using fake = await startFakeCluster({ prepare: older(600) })
    await fake.cluster.ready
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(600)
    await vi.waitFor(() => expect(fake.api.watchesOf(paths.modules)).toBe(1))
    const [refused, ...pages] = fake.api.requestsFor(paths.modules).map((request) => request.query)
    expect(refused).toMatchObject({ sendInitialEvents: 'true' })
    expect(pages).toEqual([
      { limit: '250' },
      { limit: '250', continue: '250@1600' },
      { limit: '250', continue: '500@1600' },
      { watch: '1', allowWatchBookmarks: 'true', timeoutSeconds: '450', resourceVersion: '1600' },
    ])
  })

  it('is not asked for a stream again', async () => {
    await using fake = await startFakeCluster({ prepare: older(1) })
    await fake.cluster.ready
    await vi.waitFor(() => expect(fake.api.watchesOf(paths.modules)).toBe(1))
    fake.api.send(paths.modules, 'nonsense\n')
    await vi.waitFor(() => expect(fake.sink.replacements).toBe(13))
    const streams = fake.api.requests.filter(
      (request) => request.query['sendInitialEvents'] === 'true',
    )
    expect(streams).toHaveLength(6)
  })

  it('may expire a list between two pages: then it is read again', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        older(600)(api)
        api.faults.push((request, response) => {
          if (request.query['continue'] === undefined) return false
          sendStatus(response, 410, { reason: 'Expired' })
          return true
        })
      },
    })
    await fake.cluster.ready
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(600)
  })

  it('sends smaller pages if objects are large', async () => {
    await using fake = await startFakeCluster({
      prepare: older(30, 'x'.repeat(400_000)),
      // Twelve megabytes take a busy machine longer than the short limits of these tests, so the list begins again.
      timings: { ...fastTimings, headersMs: 60_000, pageMs: 60_000 },
    })
    await fake.cluster.ready
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(30)
    const limits = fake.api.requestsFor(paths.modules).map((request) => request.query['limit'])
    expect(limits.slice(1, 5)).toEqual(['250', '50', '10', '2'])
  })

  it.each([
    { name: 'that is cut off', body: '{"metadata":{"resourceVersion":"1"},"items":[{"meta' },
    { name: 'without items', body: '{"metadata":{"resourceVersion":"1"},"items":7}' },
    { name: 'without a resourceVersion', body: '{"metadata":{},"items":[]}' },
    {
      name: 'with an object without a name',
      body: '{"metadata":{"resourceVersion":"1"},"items":[{}]}',
    },
  ])('may send a page $name: then the list is read again', async ({ body }) => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        older(3)(api)
        const broken = faultAt(paths.modules, (response) => response.end(body))
        api.faults.push((request, response) =>
          request.query['limit'] === undefined ? false : broken(request, response),
        )
      },
    })
    await fake.cluster.ready
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(3)
  })

  it('may send null for no items', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        api.streamsLists = false
        api.faults.push((request, response) => {
          if (request.query['limit'] === undefined || request.path !== paths.modules) return false
          response.end('{"metadata":{"resourceVersion":"1000"},"items":null}')
          return true
        })
      },
    })
    await fake.cluster.ready
    expect(fake.sink.versions('Module')).toEqual({})
  })
})

describe('a list that streams', () => {
  it('serves the previous objects until it is complete, and then removes those that are not in it', async () => {
    await using fake = await startFakeCluster({
      timings: { ...fastTimings, idleMs: 5_000 },
      prepare: (api) => fill(api, 3),
    })
    await fake.cluster.ready
    fake.api.delete(paths.modules, 'm0', 'team')
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'm0')).toBeUndefined())
    fake.api.compact()
    fake.api.cut()
    let finish = () => {}
    fake.api.faults.push((request, response) => {
      if (request.path !== paths.modules || request.query['sendInitialEvents'] === undefined)
        return false
      finish = () => response.destroy()
      response.writeHead(200).flushHeaders()
      return true
    })
    fake.api.putSilently(paths.modules, moduleObject('m1', { provider: 'new' }))
    fake.api.compact()
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules).length).toBeGreaterThan(2))
    expect(Object.keys(fake.sink.versions('Module'))).toEqual(['team/m1', 'team/m2'])
    finish()
    await vi.waitFor(() =>
      expect(fake.sink.versions('Module')).toEqual({ 'team/m1': '1005', 'team/m2': '1003' }),
    )
  })

  it('is read in pages if it never ends twice', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        fill(api, 3)
        const cutShort = faultAt(paths.modules, (response) => response.writeHead(200).end())
        api.faults.push(cutShort, cutShort)
      },
    })
    await fake.cluster.ready
    expect(fake.api.requestsFor(paths.modules)[2]?.query).toEqual({ limit: '250' })
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(3)
  })
})

it('reads one namespace only if that is configured', async () => {
  const namespaced = '/apis/depot.internal/v1alpha1/namespaces/team/modules'
  await using fake = await startFakeCluster({ watchNamespace: 'team' })
  await fake.cluster.ready
  const asked = fake.api.requests.map((request) => request.path)
  expect(asked).toContain(namespaced)
  expect(asked).toContain(paths.groupBindings)
  expect(asked).not.toContain(paths.modules)
  expect(fake.api.requestsFor(paths.namespaces)[0]?.query).toMatchObject({
    fieldSelector: 'metadata.name=team',
  })
})
