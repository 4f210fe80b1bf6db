import { expect, it } from 'vitest'
import { CappedMap } from './memory.ts'

it('forgets everything when it is full, but not when a value is replaced', () => {
  const map = new CappedMap<string, number>(2)
  map.set('a', 1).set('b', 2).set('b', 3)
  expect([...map]).toEqual([
    ['a', 1],
    ['b', 3],
  ])
  map.set('c', 4)
  expect([...map]).toEqual([['c', 4]])
})
