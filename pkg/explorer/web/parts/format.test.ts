import { expect, it } from 'vitest'
import { bytes, percent, plural, timeAgo } from './format.ts'

it.each([
  [0, '0 bytes'],
  [1, '1 byte'],
  [1023, '1,023 bytes'],
  [1024, '1.0 KiB'],
  [188_621, '184.2 KiB'],
  [443_041_202_176, '412.6 GiB'],
  [Number.MAX_SAFE_INTEGER, '8.0 PiB'],
])('%i bytes are %s', (value, words) => expect(bytes(value)).toBe(words))

it.each([
  [0, 0, '0%'],
  [0, 10, '0.0%'],
  [1, 18_402, '< 0.1%'],
  [18_401, 18_402, '> 99.9%'],
  [17_872, 18_402, '97.1%'],
  [2, 2, '100.0%'],
])('%i of %i is %s', (part, whole, words) => expect(percent(part, whole)).toBe(words))

it.each([
  [0, 'just now'],
  [-59, 'just now'],
  [-60, '1 minute ago'],
  [-7200, '2 hours ago'],
  [-86_400 * 400, '1 year ago'],
  [21_600, 'in 6 hours'],
])('%i seconds from now is %s', (seconds, words) => {
  expect(timeAgo(seconds * 1000, 0)).toBe(words)
})

it('uses the singular for one', () => {
  expect([plural(1, 'version'), plural(1234, 'entry', 'entries')]).toEqual([
    '1 version',
    '1,234 entries',
  ])
})
