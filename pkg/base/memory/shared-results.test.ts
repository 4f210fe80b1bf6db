import { describe, expect, it } from 'vitest'
import { SharedResults } from './memory.ts'

describe('shared results', () => {
  let made = 0
  const next = () => Promise.resolve((made += 1))
  const failing = () => {
    made += 1
    return Promise.reject<number>(new Error(`failure ${made}`))
  }
  const opened = (options: object = {}) => {
    made = 0
    return new SharedResults<number>({ maxEntries: 10, ...options })
  }
  const outcomes = async (all: readonly Promise<number>[]) =>
    (await Promise.allSettled(all)).map((one) =>
      one.status === 'fulfilled' ? one.value : (one.reason as Error).message,
    )

  it('are made once for all who ask, until they are too old', async () => {
    let now = 0
    const shared = opened({ keptMs: 10, clock: () => now })
    expect(await outcomes([shared.get('a', next), shared.get('a', next)])).toEqual([1, 1])
    expect(await shared.get('b', next)).toBe(2)
    now = 9
    expect(await shared.get('a', next)).toBe(1)
    now = 10
    expect(await shared.get('a', next)).toBe(3)
  })

  it('are made again for a caller who needs that, and then shared', async () => {
    const shared = opened()
    await shared.get('a', next)
    expect(await shared.get('a', next, { isFresh: true })).toBe(2)
    expect(await shared.get('a', next)).toBe(2)
  })

  it('are made by one of those who wait for one that fails, and the others wait for that', async () => {
    const shared = opened()
    const all = [failing, failing, next, next, next].map((make) => shared.get('a', make))
    expect(await outcomes(all)).toEqual(['failure 1', 'failure 2', 3, 3, 3])
  })

  it('are failures for everybody for as long as their maker says', async () => {
    let now = 0
    const shared = opened({ clock: () => now })
    const failedMs = () => 10
    const all = [failing, next, next].map((make) => shared.get('a', make, { failedMs }))
    expect(await outcomes(all)).toEqual(['failure 1', 'failure 1', 'failure 1'])
    now = 9
    expect(await outcomes([shared.get('a', next)])).toEqual(['failure 1'])
    now = 10
    expect(await shared.get('a', next)).toBe(2)
  })

  it('are not kept if their maker says so', async () => {
    const shared = opened()
    const isKept = () => false
    const all = [next, next].map((make) => shared.get('a', make, { isKept }))
    expect(await outcomes(all)).toEqual([1, 1])
    expect(shared.has('a')).toBe(false)
  })

  it('are not awaited by a caller whose signal aborts, and come for the others', async () => {
    const shared = opened()
    const slow = Promise.withResolvers<number>()
    const stop = new AbortController()
    const { signal } = stop
    const all = [
      shared.get('a', () => slow.promise),
      shared.get('a', next, { signal }),
      shared.get('a', next, { signal: new AbortController().signal }),
    ]
    stop.abort(new Error('stopped'))
    expect(await outcomes(all.slice(1, 2))).toEqual(['stopped'])
    expect(await outcomes([shared.get('a', next, { signal })])).toEqual(['stopped'])
    slow.resolve(7)
    expect([await outcomes(all), made]).toEqual([[7, 'stopped', 7], 0])
  })

  it('stay when an earlier one fails meanwhile', async () => {
    const shared = opened()
    const first = Promise.withResolvers<number>()
    const slow = shared.get('a', () => first.promise)
    expect(await shared.get('a', next, { isFresh: true })).toBe(1)
    first.reject(new Error('too late'))
    await outcomes([slow])
    expect(await shared.get('a', next)).toBe(1)
  })
})
