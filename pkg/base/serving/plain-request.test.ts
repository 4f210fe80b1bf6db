import { expect, it } from 'vitest'
import { RequestIds } from './plain-request.ts'

it('counts on, and never says the same twice', () => {
  const ids = new RequestIds()
  const seen = Array.from({ length: 12_345 }, () => ids.textOf(undefined))
  const [prefix = ''] = seen[0]?.split(/-1$/) ?? []
  expect(prefix).toMatch(/^[\w-]{12}$/)
  expect(seen).toEqual(seen.map((_, index) => `${prefix}-${index + 1}`))
})

it('begins otherwise than any other', () => {
  expect(new RequestIds().textOf(undefined)).not.toBe(new RequestIds().textOf(undefined))
})

it.each(['a', 'A-z.0:9_', 'x'.repeat(64)])('takes over %j', (own) => {
  expect(new RequestIds().textOf(own)).toBe(own)
})

it.each(['', 'a b', 'é', 'a\n', '"', 'x'.repeat(65)])('does not take over %j', (own) => {
  expect(new RequestIds().textOf(own)).toMatch(/^[\w-]{12}-1$/)
})
