import { expect, it } from 'vitest'
import { HostSlots } from './host-slots.ts'

it('so many ask a host at a time; one that asks again needs no other slot, one that found none keeps none', () => {
  const slots = new HostSlots(2)
  expect(['a', 'b', 'c', 'a'].map((key) => slots.take('slow', key))).toEqual([
    true,
    true,
    false,
    true,
  ])
  expect(slots.take('other', 'c')).toBe(true)
  slots.free('a')
  expect(slots.take('slow', 'd')).toBe(true)
  expect(slots.take('slow', 'c')).toBe(false)
})

it('one whose source moves to another host gives back its slots of both', () => {
  const slots = new HostSlots(1)
  expect(slots.take('before', 'a')).toBe(true)
  expect(slots.take('after', 'a')).toBe(true)
  slots.free('a')
  expect(slots.take('before', 'b')).toBe(true)
  expect(slots.take('after', 'c')).toBe(true)
})
