import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  Backoff,
  backoffMs,
  eachLimited,
  endsWithin,
  Loop,
  pause,
  SingleFlight,
  Slots,
  Turns,
  untilAborted,
  withDeadline,
} from './pacing.ts'

describe('waits after failures', () => {
  it('double up to the cap, and start again after a reset', () => {
    const backoff = new Backoff({ firstMs: 100, capMs: 700, jitter: 'full', random: () => 1 })
    expect([1, 2, 3, 4, 5].map(() => backoff.nextMs())).toEqual([100, 200, 400, 700, 700])
    backoff.reset()
    expect(backoff.nextMs()).toBe(100)
  })

  it.each([
    { jitter: 'full', random: 0, expected: 0 },
    { jitter: 'full', random: 0.25, expected: 200 },
    { jitter: 'equal', random: 0, expected: 400 },
    { jitter: 'equal', random: 0.5, expected: 600 },
  ] as const)('are a random part: $jitter at $random', ({ jitter, random, expected }) => {
    const options = { firstMs: 100, capMs: 10_000, jitter, random: () => random }
    expect(backoffMs(options, 4)).toBe(expected)
  })

  it('stay finite after any number of failures, and before the first', () => {
    const options = { firstMs: 1, capMs: 30_000, jitter: 'full', random: () => 1 } as const
    expect([0, 1, 5_000].map((failures) => backoffMs(options, failures))).toEqual([1, 1, 30_000])
  })
})

describe('a pause', () => {
  it('ends when its signal aborts, before it or while it lasts', async () => {
    const stop = new AbortController()
    setImmediate(() => stop.abort())
    const startMs = performance.now()
    await pause(60_000, AbortSignal.abort())
    await pause(60_000, stop.signal)
    expect(performance.now() - startMs).toBeLessThan(30_000)
  })

  it('ends early when it is woken, and forgets its waker', async () => {
    let forgotten = 0
    await pause(60_000, new AbortController().signal, (wake) => {
      setImmediate(wake)
      return () => {
        forgotten += 1
      }
    })
    expect(forgotten).toBe(1)
  })

  it('ends at once, without a warning, when its time has passed already', async () => {
    const warnings: Error[] = []
    const keep = (warning: Error): void => {
      if (warning.name === 'TimeoutNegativeWarning') warnings.push(warning)
    }
    process.on('warning', keep)
    onTestFinished(() => void process.off('warning', keep))
    await pause(-100.2, new AbortController().signal)
    expect(warnings).toEqual([])
  })
})

it('turns let others run', async () => {
  const turns = new Turns(0)
  let ran = false
  setImmediate(() => {
    ran = true
  })
  expect(turns.due).toBe(true)
  await turns.yield()
  expect(ran).toBe(true)
  expect(new Turns(60_000).due).toBe(false)
})

describe('work on many items', () => {
  it('runs a few at a time', async () => {
    let running = 0
    let most = 0
    const done: number[] = []
    await eachLimited([1, 2, 3, 4, 5, 6], 2, async (item) => {
      running += 1
      most = Math.max(most, running)
      await new Promise(setImmediate)
      running -= 1
      done.push(item)
    })
    expect(most).toBe(2)
    expect(done).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('begins nothing more after an error', async () => {
    const begun: number[] = []
    const work = eachLimited([1, 2, 3, 4], 1, async (item) => {
      begun.push(item)
      await new Promise(setImmediate)
      if (item === 2) throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
    expect(begun).toEqual([1, 2])
  })
})

describe('a loop', () => {
  it('runs once for many requests, again for one that comes during the run, and not after its end', async () => {
    let runs = 0
    const hold = Promise.withResolvers<void>()
    const loop = new Loop(async () => {
      runs += 1
      if (runs === 1) await hold.promise
      return 60_000
    })
    loop.schedule(60_000)
    loop.schedule(0)
    loop.schedule(0)
    await vi.waitFor(() => expect(runs).toBe(1))
    loop.schedule(0)
    hold.resolve()
    await vi.waitFor(() => expect(runs).toBe(2))
    await loop.close()
    loop.schedule(0)
    await new Promise(setImmediate)
    expect(runs).toBe(2)
  })
})

describe('concurrent requests', () => {
  it('share one run, and later ones start another', async () => {
    let starts = 0
    const flight = new SingleFlight<number>({ max: 2, overload: () => new Error('busy') })
    const start = async () => {
      starts += 1
      await new Promise(setImmediate)
      return starts
    }
    expect(await Promise.all([flight.run('a', start), flight.run('a', start)])).toEqual([1, 1])
    expect(await flight.run('a', start)).toBe(2)
  })

  it('are refused beyond a number of different keys', async () => {
    const flight = new SingleFlight<void>({ max: 1, overload: () => new Error('busy') })
    const first = flight.run('a', () => new Promise((resolve) => setImmediate(resolve)))
    await expect(flight.run('b', async () => undefined)).rejects.toThrow('busy')
    await first
    await expect(flight.run('b', async () => undefined)).resolves.toBeUndefined()
  })
})

describe('work that takes too long', () => {
  it('is abandoned, and its late result goes to a function', async () => {
    const work = Promise.withResolvers<string>()
    const late: string[] = []
    const waiting = withDeadline(work.promise, 1, 'nothing comes', (value) => void late.push(value))
    await expect(waiting).rejects.toMatchObject({
      reason: 'Unavailable',
      message: 'nothing comes; try again in a moment',
    })
    work.resolve('at last')
    await vi.waitFor(() => expect(late).toEqual(['at last']))
  })

  it('is abandoned, and may fail afterwards', async () => {
    const work = Promise.withResolvers<void>()
    expect(await endsWithin(work.promise, 1)).toBe(false)
    work.reject(new Error('too late'))
    expect(await endsWithin(Promise.resolve(), 60_000)).toBe(true)
    await expect(endsWithin(work.promise, 60_000)).rejects.toThrow('too late')
  })
})

it('hands back the reason of an aborted signal, and the later error of the work to nobody', async () => {
  const unhandled = vi.fn<() => void>()
  process.on('unhandledRejection', unhandled)
  const work = Promise.withResolvers<never>()
  const waiting = untilAborted(work.promise, AbortSignal.abort(new Error('gone')))
  await expect(waiting).rejects.toThrow('gone')
  work.reject(new Error('late'))
  await new Promise((done) => setTimeout(done, 5))
  expect(unhandled).not.toHaveBeenCalled()
  process.off('unhandledRejection', unhandled)
})

describe('work with a limit', () => {
  it('waits in line, up to a number of waiters, and starts after a failure too', async () => {
    const slots = new Slots({ max: 1, maxWaiting: 1, busy: 'too many' })
    const first = Promise.withResolvers<void>()
    const failing = slots.run(() => first.promise)
    const second = slots.run(async () => 'second')
    await expect(slots.run(async () => 'third')).rejects.toThrow('too many; try again in a moment')
    first.reject(new Error('no'))
    await expect(failing).rejects.toThrow('no')
    expect(await second).toBe('second')
  })

  it('keeps a slot for a second key, however much the first one asks for', async () => {
    const slots = new Slots({ max: 2, perKey: 1, isFair: true, maxWaiting: 1, busy: 'too many' })
    const held = Promise.withResolvers<void>()
    const one = slots.run(() => held.promise, 'a')
    const two = slots.run(async () => undefined, 'a')
    await expect(slots.run(async () => undefined, 'a')).rejects.toThrow('too many')
    expect(await slots.run(async () => 'b', 'b')).toBe('b')
    held.resolve()
    await Promise.all([one, two])
  })

  it('keeps the last slot for a key without running work', async () => {
    const slots = new Slots({ max: 4, perKey: 2, isFair: true, maxWaiting: 9 })
    const held = Promise.withResolvers<void>()
    const slow = ['a', 'a', 'b', 'b'].map((key) => slots.run(() => held.promise, key))
    expect(await slots.run(async () => 'c', 'c')).toBe('c')
    held.resolve()
    await Promise.all(slow)
  })
})
