import { describe, expect, it, vi } from 'vitest'
import { eventLine } from '../../../hack/testbed/control-plane/fake-answers.ts'
import type { FakeApiServer, Fault } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  fastTimings,
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

/** Takes every watch of Modules over, for good. */
function watchesOf(api: FakeApiServer, misbehave: (...args: Parameters<Fault>) => void): void {
  const fault: Fault = (request, response) => {
    const { watch, sendInitialEvents } = request.query
    if (request.path !== paths.modules || watch === undefined) return false
    if (sendInitialEvents !== undefined && api.streamsLists) return false
    api.faults.push(fault)
    misbehave(request, response)
    return true
  }
  api.faults.push(fault)
}

describe('an API server over a restored etcd', () => {
  it('sends nothing to a watch from the future: everything is listed again, the same numbers too', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        api.put(paths.modules, moduleObject('a', { provider: 'old' }))
        api.put(paths.modules, moduleObject('b'))
        api.put(paths.modules, moduleObject('c'))
      },
    })
    await fake.cluster.ready
    expect(fake.sink.versions('Module')).toMatchObject({ 'team/a': '1001', 'team/c': '1003' })
    watchesOf(fake.api, (_request, response) => response.writeHead(200).flushHeaders())
    fake.api.restoreRevision(1000)
    fake.api.putSilently(paths.modules, moduleObject('a', { provider: 'new' }))
    fake.api.endWatches()
    await vi.waitFor(async () => {
      const backwards = { kind: 'Module', reason: 'RevisionWentBack' }
      expect(await fake.metric('watch_relists_total', backwards)).toBe(1)
    })
    await vi.waitFor(() => expect(fake.sink.rewound).toEqual(['Module']))
    // The list has begun; its objects follow.
    await vi.waitFor(() =>
      expect(fake.sink.get('Module', 'team', 'a')).toMatchObject({
        metadata: { resourceVersion: '1001' },
        spec: { moduleConfig: { provider: 'new' } },
      }),
    )
  })
})

describe('a proxy that buffers', () => {
  it.each([
    { name: 'the whole answer', misbehave: () => undefined },
    {
      name: 'all but the head of it',
      misbehave: (...[, response]: Parameters<Fault>) => {
        response.writeHead(200).flushHeaders()
      },
    },
  ])('$name: changes are seen by lists, and the log and a metric tell', async ({ misbehave }) => {
    await using fake = await startFakeCluster({
      timings: { ...fastTimings, headersMs: 500, idleMs: 600 },
      prepare: (api) => {
        api.streamsLists = false
        watchesOf(api, misbehave)
      },
    })
    await fake.cluster.ready
    for (const name of ['a', 'b']) {
      fake.api.put(paths.modules, moduleObject(name))
      await vi.waitFor(() => expect(fake.sink.get('Module', 'team', name)).toBeDefined())
    }
    expect(await fake.metric('watch_stale', { kind: 'Module' })).toBe(1)
    const isStale = ({ kind, msg }: { kind?: unknown; msg: string }) =>
      kind === 'Module' && msg.startsWith('watch brings nothing')
    const lines = fake.logs.filter(isStale)
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({ kind: 'Module', level: 'error' })

    fake.api.faults.length = 0
    await vi.waitFor(async () => {
      fake.api.put(paths.modules, moduleObject('c'))
      expect(await fake.metric('watch_stale', { kind: 'Module' })).toBe(0)
    })
  })
})

it('a server that ends the stream after each event is not asked again all the time', async () => {
  const timings = { ...fastTimings, backoffMs: 200, backoffCapMs: 400, shortWatchMs: 1_000 }
  await using fake = await startFakeCluster({ timings })
  await fake.cluster.ready
  let revision = 2000
  watchesOf(fake.api, (_request, response) => {
    revision += 1
    const metadata = { name: 'a', namespace: 'team', resourceVersion: String(revision) }
    response.end(eventLine('MODIFIED', { ...moduleObject('a'), metadata }))
  })
  const startMs = performance.now()
  fake.api.endWatches()
  await vi.waitFor(() => expect(revision).toBeGreaterThan(2005))
  const perSecond = (revision - 2000) / ((performance.now() - startMs) / 1000)
  expect(perSecond).toBeLessThan(15)
  expect(fake.sink.get('Module', 'team', 'a')).toBeDefined()
})

it('a watch that brought nothing newer is checked by a list of one, and goes on where it was', async () => {
  await using fake = await startFakeCluster({
    prepare: (api) => api.put(paths.modules, moduleObject('a')),
  })
  await fake.cluster.ready
  for (const watches of [2, 3]) {
    fake.api.endWatches()
    await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules)).toHaveLength(watches))
    await vi.waitFor(() => expect(fake.api.watchesOf(paths.modules)).toBe(1))
  }
  expect(fake.api.probesOf(paths.modules)).toHaveLength(1)
  expect(fake.sink.replacements).toBe(6)
})
