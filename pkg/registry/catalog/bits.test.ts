import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { Bits } from './collections.ts'

const numbers = fc.uniqueArray(fc.nat({ max: 400 }))

function bitsOf(given: Iterable<number>): Bits {
  const bits = new Bits()
  for (const number of given) bits.add(number)
  return bits
}

const sorted = (set: Iterable<number>) => [...set].toSorted((a, b) => a - b)

it('behaves like a Set of numbers', () => {
  fc.assert(
    fc.property(numbers, numbers, (first, second) => {
      const [a, b] = [new Set(first), new Set(second)]
      expect([...bitsOf(a)]).toEqual(sorted(a))
      expect(bitsOf(a).count).toBe(a.size)
      expect(bitsOf(a).empty).toBe(a.size === 0)
      expect([...bitsOf(a).keep(bitsOf(b))]).toEqual(sorted(first.filter((one) => b.has(one))))
      expect([...bitsOf(a).merge(bitsOf(b))]).toEqual(sorted(new Set([...a, ...b])))
      const rest = bitsOf(a)
      for (const number of b) rest.delete(number)
      expect([...rest]).toEqual(sorted(first.filter((one) => !b.has(one))))
      const even = bitsOf(a)
      even.filter((number) => number % 2 === 0)
      expect([...even]).toEqual(sorted(a).filter((number) => number % 2 === 0))
    }),
    { seed: 6 },
  )
})

it('copies into an independent set', () => {
  const bits = bitsOf([1, 40])
  const copy = bits.copy()
  bits.add(2)
  copy.delete(40)
  expect([[...bits], [...copy]]).toEqual([[1, 2, 40], [1]])
})

it('does not have numbers far above its size', () => {
  const bits = bitsOf([3])
  bits.delete(1_000_000)
  expect(bits.has(1_000_000)).toBe(false)
})
