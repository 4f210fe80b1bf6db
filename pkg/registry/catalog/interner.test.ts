import { expect, it } from 'vitest'
import { Interner } from './resource-row.ts'

const make = () => ({})

it('returns one value for equal keys', () => {
  const interner = new Interner<object>()
  expect(interner.get('a', make)).toBe(interner.get('a', make))
  expect(interner.get('a', make)).not.toBe(interner.get('b', make))
})

it('forgets everything when it is full', () => {
  const interner = new Interner<object>(2)
  const first = interner.get('a', make)
  interner.get('b', make)
  expect(interner.get('a', make)).toBe(first)
  interner.get('c', make)
  expect(interner.get('a', make)).not.toBe(first)
})

it('does not keep a key that is longer than its limit', () => {
  const key = 'x'.repeat(1_001)
  const interner = new Interner<object>()
  expect(interner.get(key, make)).not.toBe(interner.get(key, make))
  const longer = new Interner<object>(10, 1_001)
  expect(longer.get(key, make)).toBe(longer.get(key, make))
})
