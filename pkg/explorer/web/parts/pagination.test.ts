import { expect, it } from 'vitest'
import { pageNumbers } from './pagination.tsx'

it.each([
  [1, 1, [1]],
  [1, 3, [1, 2, 3]],
  [1, 109, [1, 2, 3, 0, 109]],
  [4, 109, [1, 0, 3, 4, 5, 0, 109]],
  [109, 109, [1, 0, 108, 109]],
  [500, 3, [1, 0, 3]],
])('on page %i of %i it offers %j', (page, last, numbers) => {
  expect(pageNumbers(page, last)).toEqual(numbers)
})
