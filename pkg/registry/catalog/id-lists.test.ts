import { expect, it } from 'vitest'
import { IdLists } from './findings.ts'

const large = 2 ** 16

it.each([
  ['small numbers', [[1, 0, large - 1], [2]]],
  ['large numbers', [[large, 1], [large + 1]]],
  ['both', [[1, 2], [large, 2 ** 31], [3, 4], [0]]],
  ['many numbers', [Array.from({ length: large }, (_, index) => index % 7), [1]]],
])('returns lists of %s as they were added', (_, lists) => {
  const ids = new IdLists()
  const handles = lists.map((list) => ids.add(list))
  expect(handles.map((handle) => [...ids.get(handle)])).toEqual(lists)
  expect(new Set([0, ...handles]).size).toBe(lists.length + 1)
})

it('has one handle for every empty list', () => {
  const ids = new IdLists()
  expect([ids.add([]), ids.add([])]).toEqual([0, 0])
  expect([...ids.get(0)]).toEqual([])
  ids.drop(0)
})

it.each([[[1, 2]], [[large, 2]]])('uses the memory of a dropped list again: %j', (list) => {
  const ids = new IdLists()
  const handle = ids.add(list)
  ids.drop(handle)
  expect(ids.add(list.toReversed())).toBe(handle)
  expect([...ids.get(handle)]).toEqual(list.toReversed())
})
