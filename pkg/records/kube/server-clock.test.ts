import { expect, it } from 'vitest'
import { ServerClock } from './transport.ts'

const start = Date.UTC(2026, 10, 26, 12)
const hour = 3_600_000

function clockAt(ownMs: () => number) {
  const clock = new ServerClock(ownMs)
  const hear = (date: string | number | undefined, age?: string) => {
    const text = typeof date === 'number' ? new Date(date).toUTCString() : date
    clock.learn((name) => ({ date: text, age })[name])
  }
  return { clock, hear }
}

it('is that of the machine until the API server sends the time', () => {
  const { clock, hear } = clockAt(() => start)
  expect(clock.now()).toBe(start)
  hear(start - hour)
  expect(clock.now()).toBe(start - hour)
})

it('follows the API server when the clock of the machine is set', () => {
  let own = start
  const { clock, hear } = clockAt(() => own)
  hear(start)
  own += 30 * 24 * hour
  hear(start + 1000)
  expect(clock.now()).toBe(start + 1000)
  own -= 60 * 24 * hour
  hear(start + 2000)
  expect(clock.now()).toBe(start + 2000)
})

it('never runs backwards because of whole seconds and slow answers', () => {
  let own = start + hour
  const { clock, hear } = clockAt(() => own)
  hear(start)
  let before = clock.now()
  for (const lateMs of [0, 900, 1900, 300, 1500, 0, 1999]) {
    own += 10
    hear(own - hour - lateMs)
    expect(clock.now()).toBeGreaterThan(before)
    before = clock.now()
  }
})

it.each([
  ['without a date', undefined, undefined],
  ['with a date that cannot be read', 'yesterday', undefined],
  ['of a cache', start - hour, '3600'],
])('ignores an answer %s', (_, date, age) => {
  const { clock, hear } = clockAt(() => start)
  hear(date, age)
  expect(clock.now()).toBe(start)
})
