import { expect, it } from 'vitest'
import { createRequestIds } from './listener.ts'

it('numbers new requests and never repeats an id', () => {
  const idOf = createRequestIds()
  const seen = Array.from({ length: 12_345 }, () => idOf(undefined))
  const [prefix = ''] = seen[0]?.split(/-1$/) ?? []
  expect(prefix).toMatch(/^[\w-]{12}$/)
  expect(seen).toEqual(seen.map((_, index) => `${prefix}-${index + 1}`))
})

it('begins differently in each process', () => {
  expect(createRequestIds()(undefined)).not.toBe(createRequestIds()(undefined))
})

it.each(['a', 'A-z.0:9_', 'x'.repeat(64)])('keeps the id %j of the client', (own) => {
  expect(createRequestIds()(own)).toBe(own)
})

it.each(['', 'a b', 'é', 'a\n', '"', 'x'.repeat(65)])('replaces the id %j of the client', (own) => {
  expect(createRequestIds()(own)).toMatch(/^[\w-]{12}-1$/)
})
