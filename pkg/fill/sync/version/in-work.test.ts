import { expect, it } from 'vitest'
import { HostSlots } from './in-work.ts'

it('limits the Versions that ask a host; a second request needs no slot, and a refused one keeps none', () => {
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

it('tells that slots were returned, once, and only then', () => {
  let count = 0
  const slots = new HostSlots(1, () => (count += 1))
  slots.take('before', 'a')
  slots.take('after', 'a')
  slots.free('b')
  expect(count).toBe(0)
  slots.free('a')
  slots.free('a')
  expect(count).toBe(1)
})

it('keeps the slot that the rest of the work needs', () => {
  const slots = new HostSlots(1)
  slots.take('registry', 'a')
  slots.take('clones', 'a')
  slots.free('a', 'clones')
  expect(slots.take('registry', 'b')).toBe(true)
  expect(slots.take('clones', 'b')).toBe(false)
})

it('returns the slots of both hosts if a source moves', () => {
  const slots = new HostSlots(1)
  expect(slots.take('before', 'a')).toBe(true)
  expect(slots.take('after', 'a')).toBe(true)
  slots.free('a')
  expect(slots.take('before', 'b')).toBe(true)
  expect(slots.take('after', 'c')).toBe(true)
})
