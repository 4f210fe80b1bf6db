import { assert, integer, property } from 'fast-check'
import { expect, it } from 'vitest'
import { mustBeConfirmed } from './children.ts'

it.each([
  { leaving: 0, stored: 0, held: false },
  { leaving: 0, stored: 10, held: false },
  { leaving: 1, stored: 1, held: true },
  { leaving: 3, stored: 3, held: true },
  { leaving: 4, stored: 5, held: false },
  { leaving: 5, stored: 6, held: false },
  { leaving: 6, stored: 7, held: true },
  { leaving: 6, stored: 23, held: true },
  { leaving: 6, stored: 24, held: false },
  { leaving: 60, stored: 61, held: true },
])(
  'a person has to confirm the removal of $leaving of $stored stored versions: $held',
  (example) => {
    expect(mustBeConfirmed(example.leaving, example.stored)).toBe(example.held)
  },
)

it('without a confirmation, one change never removes everything, nor six that are more than a quarter', () => {
  assert(
    property(integer({ min: 1, max: 500 }), integer({ min: 1, max: 500 }), (leaving, more) => {
      const stored = leaving + more - 1
      if (mustBeConfirmed(leaving, stored)) return
      expect(leaving).toBeLessThan(stored)
      expect(leaving <= 5 || leaving <= stored / 4).toBe(true)
    }),
  )
})
