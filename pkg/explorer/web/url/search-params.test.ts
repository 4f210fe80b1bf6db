import { array, assert, constantFrom, oneof, property, string, tuple } from 'fast-check'
import { expect, it } from 'vitest'
import { resourceParams, resourcesParams } from './pages.ts'
import { parse, print } from './search-params.ts'

const shapes = { resourcesParams, resourceParams }

it.each(Object.entries(shapes))(
  '%s: parsing what was printed gives the same values',
  (_, shape) => {
    const names = Object.keys(shape)
    const word = oneof(
      string(),
      constantFrom('true', 'false', 'asc', 'desc', 'module', 'HIGH', '2', '50', 'name', 'cards'),
    )
    const pairs = array(tuple(constantFrom(...names, 'unknown'), word))
    assert(
      property(pairs, (given) => {
        const values = parse(shape, new URLSearchParams(given))
        const query = print(shape, values)
        expect(parse(shape, new URLSearchParams(query))).toEqual(values)
        expect(print(shape, parse(shape, new URLSearchParams(query)))).toBe(query)
      }),
    )
  },
)

it('writes parameters in a fixed order, and leaves out defaults', () => {
  const given = 'page=3&view=table&q=net&namespace=b&namespace=a&page_size=20&kind=module'
  expect(print(resourcesParams, parse(resourcesParams, new URLSearchParams(given)))).toBe(
    '?q=net&namespace=b&namespace=a&kind=module&page=3',
  )
})

it('uses the first value of a parameter that may occur once', () => {
  const search = new URLSearchParams('kind=provider&kind=module')
  expect(parse(resourcesParams, search).kind).toBe('provider')
})
