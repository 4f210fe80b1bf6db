import { Writable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ReasonError } from '../../base/errors/errors.ts'
import { createLogger, createMetrics } from '../../base/telemetry/telemetry.ts'
import { Queue, type QueueOptions } from './queue.ts'

const log = createLogger('silent', new Writable({ write: (_chunk, _encoding, done) => done() }))
const metrics = createMetrics({ version: 'test' })

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

function queueOf(options: Partial<QueueOptions> & Pick<QueueOptions, 'reconcile'>): Queue {
  const queue = new Queue({
    kind: 'Version',
    workers: 1,
    log,
    metrics,
    random: () => 1,
    ...options,
  })
  queue.start()
  return queue
}

/** Work that is recorded and lasts until it is released. */
function heldWork() {
  const began: string[] = []
  const releases = new Map<string, () => void>()
  const reconcile = async (key: string) => {
    began.push(key)
    await new Promise<void>((resolve) => releases.set(key, resolve))
  }
  const release = async (key: string) => {
    releases.get(key)?.()
    await vi.advanceTimersByTimeAsync(0)
  }
  return { began, reconcile, release }
}

describe('keys', () => {
  it('run once while they are queued, and once more if they were added again meanwhile', async () => {
    const { began, reconcile, release } = heldWork()
    const queue = queueOf({ workers: 4, reconcile })
    for (let i = 0; i < 3; i++) queue.add('a', 'user')
    expect(began).toEqual(['a'])
    for (let i = 0; i < 3; i++) queue.add('a', 'poll')
    expect(began).toEqual(['a'])
    await release('a')
    expect(began).toEqual(['a', 'a'])
    await release('a')
    await queue.idle()
    expect(began).toEqual(['a', 'a'])
  })

  it('run in the order of people, listings, polls', async () => {
    const { began, reconcile, release } = heldWork()
    const queue = queueOf({ reconcile })
    queue.add('first', 'poll')
    queue.add('poll', 'poll')
    queue.add('listing', 'listing')
    queue.add('raised', 'poll')
    queue.add('user', 'user')
    queue.add('raised', 'user')
    queue.add('user', 'poll')
    for (const key of ['first', 'user', 'raised', 'listing', 'poll']) {
      expect(began.at(-1)).toBe(key)
      await release(key)
    }
    expect(began).toHaveLength(5)
  })

  it('run at the same time, up to the number of workers', () => {
    const { began, reconcile } = heldWork()
    const queue = queueOf({ workers: 2, reconcile })
    for (const key of ['a', 'b', 'c']) queue.add(key, 'listing')
    expect(began).toEqual(['a', 'b'])
  })
})

describe('namespaces', () => {
  it('take turns, even if one has more work', async () => {
    const { began, reconcile, release } = heldWork()
    const queue = queueOf({ reconcile })
    for (let i = 0; i < 100; i++) queue.add(`many/${i}`, 'listing')
    queue.add('few/a', 'listing')
    queue.add('few/b', 'poll')
    queue.add('few/c', 'user')
    for (let i = 0; i < 5; i++) await release(began.at(-1) ?? '')
    expect(began).toEqual(['many/0', 'few/c', 'many/1', 'few/a', 'many/2', 'many/3'])
  })

  it('do not wait for the slow work of another', async () => {
    const { began, reconcile } = heldWork()
    const queue = queueOf({ workers: 2, reconcile })
    for (let i = 0; i < 100; i++) queue.add(`slow/${i}`, 'user')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(began).toEqual(['slow/0', 'slow/1', 'slow/2', 'slow/3'])
    for (const key of ['other/a', 'other/b', 'other/c']) queue.add(key, 'poll')
    expect(began.slice(4)).toEqual(['other/a', 'other/b'])
  })

  it('together have a limited amount of slow work', async () => {
    const { began, reconcile, release } = heldWork()
    const queue = queueOf({ reconcile })
    for (let i = 0; i < 200; i++) queue.add(`slow-${i}/x`, 'poll')
    await vi.advanceTimersByTimeAsync(1_000_000)
    expect(began).toHaveLength(64)
    await release('slow-0/x')
    expect(began).toHaveLength(65)
  })
})

describe('keys that wait for a resource', () => {
  /** Work that needs the only slot of a host: `many/x 1` asks the host `x`. */
  function hostWork() {
    const taken = new Map<string, string>()
    const acquire = (host: string, key: string) => {
      if (taken.has(host)) return taken.get(host) === key
      taken.set(host, key)
      return true
    }
    const { began, reconcile: work, release } = heldWork()
    const reconcile = async (key: string) => {
      const host = key.replace(/^.*\/| .*$/g, '')
      if (host !== 'none' && !acquire(host, key)) return { waitsFor: host }
      await work(key)
      if (taken.get(host) === key) taken.delete(host)
      return undefined
    }
    const finish = async () => {
      const [host = '', key = ''] = [...taken].at(-1) ?? []
      await release(key)
      return host
    }
    return { began, finish, queue: queueOf({ workers: 2, reconcile, acquire }) }
  }

  it('take turns by priority and namespace, not by arrival', async () => {
    const { began, finish, queue } = hostWork()
    for (let i = 0; i < 200; i++) queue.add(`many/x ${i}`, 'listing')
    await vi.advanceTimersByTimeAsync(0)
    queue.add('few/x poll', 'poll')
    queue.add('few/x listing', 'listing')
    await vi.advanceTimersByTimeAsync(0)
    queue.add('few/x user', 'user')
    await vi.advanceTimersByTimeAsync(0)
    for (let i = 0; i < 4; i++) await finish()
    expect(began.slice(0, 2)).toEqual(['many/x 0', 'few/x user'])
    expect(began.slice(2, 4).toSorted()).toEqual(['few/x listing', 'many/x 1'])
    expect(began[4]).toBe('many/x 2')
    while (began.length < 203) await finish()
    await finish()
    await queue.idle()
    expect(new Set(began).size).toBe(203)
    expect(began.at(-1)).toBe('few/x poll')
  })

  it('do not block keys that need no resource or another one', async () => {
    const { began, queue } = hostWork()
    for (let i = 0; i < 10; i++) queue.add(`one/x ${i}`, 'user')
    queue.add('one/y 0', 'poll')
    await vi.advanceTimersByTimeAsync(0)
    expect(began).toEqual(['one/x 0', 'one/y 0'])
  })

  it('run when the resource is returned before the work that had it ends', async () => {
    let holder: string | undefined
    const began: string[] = []
    const acquire = (_: string, key: string) => (holder ??= key) === key
    const ended = Promise.withResolvers<void>()
    const queue = queueOf({
      workers: 2,
      acquire,
      async reconcile(key) {
        if (!acquire('slot', key)) return { waitsFor: 'slot' }
        began.push(key)
        await ended.promise
        return undefined
      },
    })
    for (const key of ['a', 'b']) queue.add(key, 'user')
    await vi.advanceTimersByTimeAsync(0)
    expect(began).toEqual(['a'])
    holder = undefined
    queue.workOn()
    expect(began).toEqual(['a', 'b'])
    ended.resolve()
    await queue.idle()
  })

  it('run when they are added again, because they may need no resource by now', async () => {
    let isGone = false
    const began: string[] = []
    const reconcile = async (key: string) => {
      began.push(key)
      return isGone ? undefined : { waitsFor: 'slot' }
    }
    const queue = queueOf({ reconcile, acquire: () => false })
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(60_000)
    expect(began).toEqual(['a'])
    isGone = true
    queue.add('a', 'poll')
    await queue.idle()
    expect(began).toEqual(['a', 'a'])
  })

  it('leave a free resource to another namespace if their own is at its limit', async () => {
    const { began, finish, queue } = hostWork()
    queue.add('other/x 0', 'user')
    await vi.advanceTimersByTimeAsync(20_000)
    queue.add('busy/x 0', 'user')
    await vi.advanceTimersByTimeAsync(0)
    for (let i = 0; i < 4; i++) queue.add(`busy/none ${i}`, 'user')
    await vi.advanceTimersByTimeAsync(20_000)
    queue.add('other/x 1', 'poll')
    await vi.advanceTimersByTimeAsync(0)
    expect(began).toHaveLength(5)
    await finish()
    expect(began.at(-1)).toBe('other/x 1')
  })
})

describe('work that fails', () => {
  it('returns after a delay that doubles to 15 minutes and resets after a success', async () => {
    const startedMs: number[] = []
    let fails = true
    const reconcile = async () => {
      startedMs.push(Date.now())
      if (fails) throw new Error('unavailable')
    }
    const queue = queueOf({ reconcile })
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(3_600_000)
    const waitsMs = startedMs.slice(1).map((ms, index) => ms - (startedMs[index] ?? 0))
    const doubled = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512].map((seconds) => seconds * 1000)
    expect(waitsMs).toEqual([...doubled, 900_000, 900_000])
    expect([...queue.failing]).toEqual([['a', new Error('unavailable')]])

    fails = false
    await vi.advanceTimersByTimeAsync(900_000)
    expect(queue.failing.size).toBe(0)
    fails = true
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(1_000)
    expect((startedMs.at(-1) ?? 0) - (startedMs.at(-2) ?? 0)).toBe(1_000)
  })

  it('keeps its failures while it waits for a resource', async () => {
    const delays: number[] = []
    let fails = true
    const queue = queueOf({
      random: () => 0.999,
      acquire: () => false,
      reconcile: async () => {
        delays.push(performance.now())
        fails = !fails
        if (fails) return { waitsFor: 'slot' }
        throw new Error('unavailable')
      },
    })
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(1_000)
    expect([...queue.failing.keys()]).toEqual(['a'])
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(1_500)
    expect(delays).toHaveLength(3)
    await vi.advanceTimersByTimeAsync(600)
    expect(delays).toHaveLength(4)
  })

  it('returns at the time that the error names, unless that is at once', async () => {
    const failures = [90_000, 0, undefined]
    const startedMs: number[] = []
    const reconcile = async () => {
      startedMs.push(Date.now())
      const retryAfterMs = failures[startedMs.length - 1]
      if (startedMs.length < 4) throw Object.assign(new Error('busy'), { retryAfterMs })
    }
    queueOf({ reconcile }).add('a', 'user')
    await vi.advanceTimersByTimeAsync(600_000)
    const waitsMs = startedMs.slice(1).map((ms, index) => ms - (startedMs[index] ?? 0))
    expect(waitsMs).toEqual([90_000, 2_000, 4_000])
  })

  it('never delays another key, and returns at once if a person changes the object', async () => {
    const began: string[] = []
    const reconcile = async (key: string) => {
      began.push(key)
      if (key === 'bad') throw new Error('no')
    }
    const queue = queueOf({ reconcile })
    queue.add('bad', 'listing')
    queue.add('good', 'poll')
    await vi.advanceTimersByTimeAsync(0)
    queue.add('bad', 'user')
    await vi.advanceTimersByTimeAsync(0)
    expect(began).toEqual(['bad', 'good', 'bad'])
  })
})

describe('later', () => {
  it('is the time that the work names; the earlier of two times wins', async () => {
    const began: number[] = []
    const startMs = Date.now()
    const queue = queueOf({
      reconcile: async () => {
        began.push(Date.now() - startMs)
        return began.length === 1 ? { afterMs: 60_000 } : undefined
      },
    })
    queue.add('a', 'user')
    await vi.advanceTimersByTimeAsync(10)
    queue.addAfter('a', 100_000)
    queue.addAfter('a', 30_000)
    await vi.advanceTimersByTimeAsync(200_000)
    expect(began).toEqual([0, 30_010])
  })

  it('may be later than the longest timer of Node', async () => {
    let runs = 0
    const queue = queueOf({
      reconcile: async () => {
        runs += 1
      },
    })
    const day = 86_400_000
    queue.addAfter('a', 30 * day)
    await vi.advanceTimersByTimeAsync(30 * day - 1)
    expect(runs).toBe(0)
    await vi.advanceTimersByTimeAsync(1)
    expect(runs).toBe(1)
  })
})

it('is idle when nothing waits, although something is due later', async () => {
  const { reconcile, release } = heldWork()
  const queue = queueOf({ reconcile })
  queue.add('a', 'user')
  queue.addAfter('b', 1_000)
  let isIdle = false
  const waitUntilIdle = async () => {
    await queue.idle()
    isIdle = true
  }
  const idle = waitUntilIdle()
  await vi.advanceTimersByTimeAsync(10)
  expect(isIdle).toBe(false)
  await release('a')
  await idle
  expect(isIdle).toBe(true)
})

it.each([
  ['as often as it may fail', new Error('down'), 3],
  ['once if it has to wait long', Object.assign(new Error(), { retryAfterMs: 60_000 }), 1],
  ['once if it ended by a deadline', new ReasonError('UpstreamTimeout', 'silent'), 1],
])('waits for failed work %s before it is idle', async (_, error, expected) => {
  let runs = 0
  const queue = queueOf({
    tries: 3,
    reconcile: async () => {
      runs += 1
      throw error
    },
  })
  queue.add('a', 'user')
  const idle = queue.idle().then(() => runs)
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(await idle).toBe(expected)
})

it('aborts running work when it is stopped, and begins no other work', async () => {
  const began: string[] = []
  const queue = queueOf({
    reconcile: (key, signal) => {
      began.push(key)
      return new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      })
    },
  })
  queue.add('a', 'user')
  queue.add('b', 'user')
  queue.addAfter('c', 10)
  await queue.stop()
  queue.add('d', 'user')
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(began).toEqual(['a'])
})

it('shows waiting keys, their age, and retries in metrics', async () => {
  const own = createMetrics({ version: 'test' })
  const { reconcile } = heldWork()
  const queue = queueOf({ metrics: own, reconcile })
  for (const key of ['a', 'b', 'c']) queue.add(key, 'listing')
  await vi.advanceTimersByTimeAsync(3_000)
  const text = await own.metrics()
  expect(text).toContain('depot_sync_queue_depth{kind="Version",priority="listing"} 2')
  expect(text).toMatch(/depot_sync_queue_oldest_seconds\{kind="Version"\} 3\n/)
  expect(text).toContain('# TYPE depot_sync_retries_total counter')
})
