import { expect, it } from 'vitest'
import { HotArchives } from './known-archives.ts'

it('keeps an archive at its second request, unless it is large or empty', () => {
  const hot = new HotArchives(1000)
  expect([hot.wants('a', 100), hot.wants('a', 100), hot.wants('b', 100)]).toEqual([
    false,
    true,
    false,
  ])
  for (const sizeBytes of [0, 1001, 300_000]) {
    expect([hot.wants('c', sizeBytes), hot.wants('c', sizeBytes)]).toEqual([false, false])
  }
})

it('keeps the most recently used archives, within its limit', () => {
  const hot = new HotArchives(3.5 * 300)
  for (const name of ['a', 'b', 'c']) hot.put(name, new Uint8Array(300))
  hot.get('a')
  hot.put('d', new Uint8Array(300))
  expect(['a', 'b', 'c', 'd'].map((name) => hot.get(name) !== undefined)).toEqual([
    true,
    false,
    true,
    true,
  ])
})

it('keeps a new archive even if all others were used', () => {
  const hot = new HotArchives(3 * 300)
  for (const name of ['a', 'b', 'c']) hot.put(name, new Uint8Array(300))
  for (const name of ['a', 'b', 'c']) hot.get(name)
  hot.put('d', new Uint8Array(300))
  expect(['a', 'b', 'c', 'd'].map((name) => hot.get(name) !== undefined)).toEqual([
    false,
    true,
    true,
    true,
  ])
})
