import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { Slots } from './limiter.ts'

/** Asks for slots under some names, and lists those that have one, in their order. */
function asker(slots: Slots) {
  const held: string[] = []
  const releases = new Map<string, () => void>()
  return {
    held,
    ask: async (key: string, signal?: AbortSignal) => {
      const release = await slots.acquire(signal, key)
      held.push(key)
      releases.set(key, release)
    },
    release: (key: string) => releases.get(key)?.(),
  }
}

it('gives a slot that becomes free to the first waiter, and twice released ones once', async () => {
  const { held, ask, release } = asker(new Slots({ max: 1, maxWaiting: 2 }))
  const all = ['a', 'b', 'c'].map((key) => ask(key))
  await all[0]
  release('a')
  release('a')
  await all[1]
  await setImmediate()
  expect(held).toEqual(['a', 'b'])
  release('b')
  await all[2]
})

it('lets waiters of other keys go first where one key has its share', async () => {
  const slots = new Slots({ max: 3, perKey: 1, maxWaiting: 9 })
  const { held, ask, release } = asker(slots)
  void ask('a')
  void ask('a')
  await ask('b')
  expect(held).toEqual(['a', 'b'])
  expect([slots.usersOf('a'), slots.users]).toEqual([2, 3])
  release('a')
  await setImmediate()
  expect(held).toEqual(['a', 'b', 'a'])
})

it('keeps the last slot for a key without one if it is fair', async () => {
  const { held, ask, release } = asker(new Slots({ max: 3, isFair: true, maxWaiting: 9 }))
  for (const key of ['a', 'a', 'a']) void ask(key)
  await ask('b')
  expect(held).toEqual(['a', 'a', 'b'])
  release('b')
  await setImmediate()
  expect(held).toEqual(['a', 'a', 'b'])
  release('a')
  await setImmediate()
  expect(held).toEqual(['a', 'a', 'b', 'a'])
})

it('refuses a wait that is too long, aborted or one too many, and passes its slot on', async () => {
  const slots = new Slots({ max: 1, maxWaiting: 2, waitMs: 20 })
  const { held, ask, release } = asker(slots)
  await ask('a')
  const left = new AbortController()
  const waiting = [ask(''), ask('', left.signal)]
  await expect(ask('')).rejects.toThrow('too many requests are waiting; try again in a moment')
  left.abort(new Error('gone'))
  await expect(waiting[1]).rejects.toThrow('gone')
  await expect(waiting[0]).rejects.toThrow('too many requests are waiting')
  const last = ask('last')
  release('a')
  await last
  expect([held, slots.users]).toEqual([['a', 'last'], 1])
})

it('refuses more keys than may wait, but not a second waiter of one', async () => {
  const slots = new Slots({ max: 1, perKey: 1, maxWaiting: 2, maxWaitingKeys: 1 })
  const { held, ask, release } = asker(slots)
  await ask('a')
  const waiting = [ask('b'), ask('b')]
  await expect(ask('c')).rejects.toThrow('too many requests are waiting')
  release('a')
  await waiting[0]
  release('b')
  await waiting[1]
  expect([held, slots.users, slots.usersOf('b')]).toEqual([['a', 'b', 'b'], 1, 1])
})
