import { expect, it } from 'vitest'
import { downloadsByVersion } from './by-version.ts'

it('adds up the platforms of a version, and omits versions without downloads', () => {
  const rows = [
    { version: '2.0.0', downloadCount: 3 },
    { version: '2.0.0', downloadCount: 4 },
    { version: '1.1.0' },
    { version: '1.0.0', downloadCount: 9 },
  ]
  expect(downloadsByVersion(rows)).toEqual([
    { version: '2.0.0', count: 7 },
    { version: '1.0.0', count: 9 },
  ])
})

it('keeps the ten versions with the most downloads, newest first', () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({
    version: `${30 - at}.0.0`,
    downloadCount: at % 2 === 0 ? 1 : 100 + at,
  }))
  const shown = downloadsByVersion(rows)
  expect(shown).toHaveLength(10)
  expect(shown[0]?.version).toBe('19.0.0')
  expect(shown.every(({ count }) => count > 100)).toBe(true)
})
