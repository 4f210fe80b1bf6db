import { expect, it } from 'vitest'
import { HostSlots } from './host-slots.ts'

const slotsOf = (perHost: number) => {
  const woken: string[] = []
  return { slots: new HostSlots(perHost, (key) => woken.push(key)), woken }
}

it('so many ask a host at a time, and others are woken in their order', () => {
  const { slots, woken } = slotsOf(2)
  expect(['a', 'b', 'c', 'd', 'c'].map((key) => slots.take('slow', key))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ])
  expect(slots.take('other', 'e')).toBe(true)
  slots.free('a')
  expect(woken).toEqual(['c'])
  expect(slots.take('slow', 'f')).toBe(false)
  expect(slots.take('slow', 'c')).toBe(true)
  slots.free('b')
  slots.free('c')
  expect(woken).toEqual(['c', 'd', 'f'])
})

it('one that is woken and wants nothing any more lets the next one go on', () => {
  const { slots, woken } = slotsOf(1)
  for (const key of ['a', 'b', 'c']) slots.take('slow', key)
  slots.free('a')
  slots.free('b')
  expect(woken).toEqual(['b', 'c'])
  expect(slots.take('other', 'c')).toBe(true)
  expect(slots.take('slow', 'd')).toBe(true)
})
