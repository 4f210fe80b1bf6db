import { expect, it } from 'vitest'
import { GroupLists } from './group-lists.ts'

const listOf = (count: number, start: number) =>
  Array.from({ length: count }, (_, index) => `team-${start + index}`)

it('equal lists are one list', () => {
  const lists = new GroupLists((text) => text)
  const first = lists.shared(['a', 'b'])
  expect(lists.shared(['a', 'b'])).toBe(first)
  expect(lists.shared(['a,b'])).toEqual(['a,b'])
  expect(lists.shared(['b', 'a'])).toEqual(['b', 'a'])
})

it('long lists are forgotten before they fill the memory', () => {
  const lists = new GroupLists((text) => text)
  for (let index = 0; index < 200; index += 1) lists.shared(listOf(4500, index))
  expect(lists.bytes).toBeGreaterThan(15_000_000)
  expect(lists.bytes).toBeLessThan(17_000_000)
})
