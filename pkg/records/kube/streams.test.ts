import type { ServerResponse } from 'node:http'
import { describe, expect, it, vi } from 'vitest'
import { bookmarkLine, eventLine } from '../../../hack/testbed/control-plane/fake-answers.ts'
import { faultAt } from '../../../hack/testbed/control-plane/fake-api-server.ts'
import {
  fastTimings,
  moduleObject,
  paths,
  startFakeCluster,
} from '../../../hack/testbed/control-plane/fake-cluster.ts'

const withOne = (timings = fastTimings) =>
  startFakeCluster({ timings, prepare: (api) => api.put(paths.modules, moduleObject('a')) })

const expired = { kind: 'Status', code: 410, reason: 'Expired' }
const named = (resourceVersion: string) => ({
  ...moduleObject('x'),
  metadata: { name: 'x', namespace: 'team', resourceVersion },
})

describe('a watch that sends something unreliable', () => {
  it.each([
    {
      name: 'a line that is not JSON',
      reason: 'UndecodableAnswer',
      bytes: '{"type":"ADDED","object":{"meta\n',
    },
    { name: 'a line that is not an event', reason: 'UndecodableAnswer', bytes: '[]\n' },
    {
      name: 'an unknown type of event',
      reason: 'UndecodableAnswer',
      bytes: eventLine('RENAMED', named('2000')),
    },
    {
      name: 'an object without a resourceVersion',
      reason: 'UndecodableAnswer',
      bytes: eventLine('ADDED', moduleObject('x')),
    },
    {
      name: 'an object without metadata',
      reason: 'UndecodableAnswer',
      bytes: eventLine('ADDED', { kind: 'Module' }),
    },
    {
      name: 'a bookmark without a resourceVersion',
      reason: 'UndecodableAnswer',
      bytes: eventLine('BOOKMARK', {}),
    },
    {
      name: 'an ERROR event that says expired',
      reason: 'RevisionExpired',
      bytes: eventLine('ERROR', expired),
    },
    {
      name: 'a resourceVersion from the past',
      reason: 'RevisionWentBack',
      bytes: eventLine('ADDED', named('7')),
    },
    {
      name: 'a bookmark from the past',
      reason: 'RevisionWentBack',
      bytes: bookmarkLine('7', false),
    },
  ])('$name: everything is listed again', async ({ reason, bytes }) => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.putSilently(paths.modules, moduleObject('lost'))
    fake.api.send(paths.modules, bytes)
    await vi.waitFor(() =>
      expect(fake.sink.versions('Module')).toEqual({ 'team/a': '1001', 'team/lost': '1002' }),
    )
    expect(await fake.metric('watch_relists_total', { kind: 'Module', reason })).toBe(1)
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    expect(fake.sink.get('Module', 'team', 'x')).toBeUndefined()
  })

  it('lists again when the last line is cut off', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.send(paths.modules, eventLine('ADDED', named('2000')).slice(0, 40))
    fake.api.endWatches()
    await vi.waitFor(async () =>
      expect(
        await fake.metric('watch_relists_total', { kind: 'Module', reason: 'UndecodableAnswer' }),
      ).toBe(1),
    )
    const truncated = { kind: 'Module', reason: 'Truncated' }
    expect(await fake.metric('watch_decode_errors_total', truncated)).toBe(1)
  })

  it.each([
    { name: 'fewer than three errors in a row watch again', errors: 2, relists: 0 },
    { name: 'three errors in a row list again', errors: 3, relists: 1 },
  ])(
    'an ERROR event of another kind, on an open connection: $name',
    async ({ errors, relists }) => {
      await using fake = await withOne()
      await fake.cluster.ready
      const error = eventLine('ERROR', { kind: 'Status', code: 500, reason: 'InternalError' })
      const failing = (response: ServerResponse) => response.write(error)
      for (let i = 1; i < errors; i++) fake.api.faults.push(faultAt(paths.modules, failing))
      fake.api.send(paths.modules, error)
      await vi.waitFor(() => expect(fake.api.requestsFor(paths.modules)).toHaveLength(errors + 1))
      fake.api.put(paths.modules, moduleObject('b'))
      await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
      expect(
        await fake.metric('watch_relists_total', { kind: 'Module', reason: 'ErrorEvent' }),
      ).toBe(relists)
    },
  )
})

it('a bug of the reader in the middle of a list does not end the watch', async () => {
  await using fake = await withOne()
  await fake.cluster.ready
  const beginReplace = fake.sink.beginReplace.bind(fake.sink)
  let mistakes = 0
  fake.sink.beginReplace = (kind) => {
    const replacement = beginReplace(kind)
    const commit = async () => {
      mistakes += 1
      if (mistakes < 3) throw new Error('no')
      await replacement.commit()
    }
    return { ...replacement, commit }
  }
  fake.api.send(paths.modules, 'nonsense\n')
  await vi.waitFor(() => expect(mistakes).toBe(3))
  fake.api.put(paths.modules, moduleObject('b'))
  await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
  expect(await fake.metric('watch_restarts_total', { kind: 'Module', reason: 'Internal' })).toBe(2)
})

describe('a watch that breaks', () => {
  it('continues where it was after a clean end', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.put(paths.namespaces, { kind: 'Namespace', metadata: { name: 'team' } })
    fake.api.bookmark(paths.modules)
    await vi.waitFor(() => {
      fake.api.endWatches()
      expect(fake.api.requestsFor(paths.modules).at(-1)?.query['resourceVersion']).toBe('1002')
    })
    expect(fake.sink.replacements).toBe(6)
  })

  it('continues where it was after a cut in the middle of a line', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.send(paths.modules, eventLine('ADDED', named('2000')).slice(0, 40))
    fake.api.cut()
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    expect(fake.sink.replacements).toBe(6)
  })

  it('requests bookmarks, and an end after five to ten minutes', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    expect(fake.api.requests[0]?.query).toMatchObject({
      allowWatchBookmarks: 'true',
      timeoutSeconds: '450',
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    })
  })

  it('is opened again where it was if nothing arrives for too long, while bookmarks keep it open', async () => {
    await using fake = await withOne({ ...fastTimings, idleMs: 5_000 })
    await fake.cluster.ready
    const beat = setInterval(() => fake.api.bookmark(paths.providers), 50)
    await vi.waitFor(async () => {
      const idle = { kind: 'Module', reason: 'StreamIdle' }
      expect(await fake.metric('watch_restarts_total', idle)).toBeGreaterThan(0)
    })
    expect(fake.api.requestsFor(paths.modules).length).toBeLessThan(10)
    clearInterval(beat)
    expect(fake.api.requestsFor(paths.providers)).toHaveLength(1)
    expect(fake.sink.replacements).toBe(6)
  })

  it('is opened again if the server does not end it in time', async () => {
    const timings = { backoffMs: 10, watchMinSeconds: 0.2, watchGraceMs: 50 }
    await using fake = await startFakeCluster({ timings })
    await fake.cluster.ready
    const beat = setInterval(() => fake.api.bookmark(paths.modules), 50)
    await vi.waitFor(async () => {
      const deadline = { kind: 'Module', reason: 'Timeout' }
      expect(await fake.metric('watch_restarts_total', deadline)).toBeGreaterThan(0)
    })
    clearInterval(beat)
  })

  it('backs off from a server that ends every watch at once', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    const atOnce = (response: ServerResponse) => response.writeHead(200).end()
    for (let i = 0; i < 5; i++) fake.api.faults.push(faultAt(paths.modules, atOnce))
    fake.api.endWatches()
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    // The watch that was ended here may have been open for as short a time.
    const short = await fake.metric('watch_restarts_total', {
      kind: 'Module',
      reason: 'StreamTooShort',
    })
    expect([5, 6]).toContain(short)
  })

  it('resumes for every kind after an outage of the server, without a storm or a list', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    await fake.api.stop()
    const asked = fake.api.requestCount
    await vi.waitFor(() =>
      expect(fake.logs.filter((line) => line.msg === 'watch failed').length).toBeGreaterThan(20),
    )
    await fake.api.start()
    fake.api.put(paths.modules, moduleObject('b'))
    await vi.waitFor(() => expect(fake.sink.get('Module', 'team', 'b')).toBeDefined())
    await vi.waitFor(() => expect(fake.api.requestCount - asked).toBe(6))
    expect(fake.sink.replacements).toBe(6)
    expect(fake.api.openConnections).toBeLessThanOrEqual(6)
  })
})

describe('the stream of a watch', () => {
  it('may be cut anywhere, even inside a character', async () => {
    await using fake = await startFakeCluster({ timings: { idleMs: 60_000 } })
    await fake.cluster.ready
    const object = { ...named('2000'), spec: { moduleConfig: { provider: 'größe-日本語-🚀' } } }
    const bytes = Buffer.from(eventLine('ADDED', object))
    for (let at = 0; at < bytes.length; at++) {
      fake.api.send(paths.modules, bytes.subarray(at, at + 1))
      await new Promise(setImmediate)
    }
    await vi.waitFor(() =>
      expect(fake.sink.get('Module', 'team', 'x')).toMatchObject({
        spec: { moduleConfig: { provider: 'größe-日本語-🚀' } },
      }),
    )
    expect(fake.sink.replacements).toBe(6)
  })

  it('may be an object of 1.5 MB', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.put(paths.modules, moduleObject('large', { provider: 'x'.repeat(1_500_000) }))
    fake.api.put(paths.modules, moduleObject('next'))
    await vi.waitFor(() =>
      expect(Object.keys(fake.sink.versions('Module'))).toEqual([
        'team/a',
        'team/large',
        'team/next',
      ]),
    )
  })

  it('shows an object that was deleted and created again in a gap as the new one', async () => {
    await using fake = await withOne()
    await fake.cluster.ready
    fake.api.cut()
    fake.api.delete(paths.modules, 'a', 'team')
    fake.api.put(paths.modules, moduleObject('a', { provider: 'new' }))
    await vi.waitFor(() =>
      expect(fake.sink.get('Module', 'team', 'a')).toMatchObject({
        metadata: { resourceVersion: '1003' },
        spec: { moduleConfig: { provider: 'new' } },
      }),
    )
  })

  it('is processed in slices, between which others run', async () => {
    await using fake = await startFakeCluster({
      prepare: (api) => {
        for (let i = 0; i < 20_000; i++) api.put(paths.modules, moduleObject(`m${i}`))
      },
    })
    let turns = 0
    let counting = true
    const count = () => {
      turns += 1
      if (counting) setImmediate(count)
    }
    count()
    await fake.cluster.ready
    counting = false
    expect(Object.keys(fake.sink.versions('Module'))).toHaveLength(20_000)
    expect(turns).toBeGreaterThan(20)
  })
})
