import { describe, expect, it, vi } from 'vitest'
import { eventLine } from '../../../hack/testbed/control-plane/fake-answers.ts'
import type { FakeApiServer, Fault } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  fastTimings,
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

/** Takes over every watch of Modules permanently. */
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

describe('a buffering proxy', () => {
  it.each([
    { name: 'the whole answer', misbehave: () => undefined },
    {
      name: 'all but the head of it',
      misbehave: (...[, response]: Parameters<Fault>) => {
        response.writeHead(200).flushHeaders()
      },
    },
  ])('$name: lists deliver changes, and the log and a metric tell', async ({ misbehave }) => {
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

it('a buffering proxy is named even if the process was paused before', async () => {
  let aheadMs = 0
  await using fake = await startFakeCluster({
    timings: { ...fastTimings, headersMs: 500 },
    clock: () => Date.now() + aheadMs,
    prepare: (api) => {
      api.streamsLists = false
      watchesOf(api, () => {
        aheadMs += 3_600_000
      })
    },
  })
  const lines = (words: string) =>
    fake.logs.filter(({ kind, msg }) => kind === 'Module' && msg.startsWith(words))
  await vi.waitFor(() => expect(lines('watch brings nothing')).toHaveLength(1))
  expect(lines('nothing was heard')).toHaveLength(1)
})

it('a server that ends the stream after each event is not asked again without a pause', async () => {
  const timings = { ...fastTimings, backoffMs: 200, backoffCapMs: 400, shortWatchMs: 1_000 }
  await using fake = await startFakeCluster({ timings })
  await fake.cluster.ready
  let count = 0
  watchesOf(fake.api, (_request, response) => {
    count += 1
    fake.api.putSilently(paths.modules, moduleObject('a'))
    response.end(eventLine('MODIFIED', fake.api.objectsOf(paths.modules)[0]))
  })
  const startMs = performance.now()
  fake.api.endWatches()
  await vi.waitFor(() => expect(count).toBeGreaterThan(5))
  const perSecond = count / ((performance.now() - startMs) / 1000)
  expect(perSecond).toBeLessThan(15)
  expect(fake.sink.get('Module', 'team', 'a')).toBeDefined()
})

it('a proxy that cuts each watch after its head is asked less and less often', async () => {
  await using fake = await startFakeCluster({ timings: { ...fastTimings, backoffCapMs: 60_000 } })
  await fake.cluster.ready
  const cutMs: number[] = []
  watchesOf(fake.api, (_request, response) => {
    cutMs.push(performance.now())
    response.writeHead(200).flushHeaders()
    setImmediate(() => response.destroy())
  })
  fake.api.endWatches()
  await vi.waitFor(() => expect(cutMs.length).toBe(7))
  const [first = 0, , , , , sixth = 0, seventh = 0] = cutMs
  // Half of 10 ms, doubled six times, plus the requests in between.
  expect(seventh - sixth).toBeGreaterThanOrEqual(160)
  expect(sixth - first).toBeGreaterThanOrEqual(155)
})
