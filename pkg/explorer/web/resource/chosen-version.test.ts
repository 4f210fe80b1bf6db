import { expect, it } from 'vitest'
import { chosenVersion } from './chosen-version.ts'

const detail = {
  latestVersion: '2.0.0',
  versions: [
    { version: '2.0.0', synced: false },
    { version: '1.0.0', synced: true },
  ],
}

it('pins a version only once it is synced', () => {
  expect(chosenVersion(detail, '')).toEqual({
    shown: '2.0.0',
    pinned: undefined,
    isLatest: true,
    unknown: undefined,
  })
  expect(chosenVersion(detail, '1.0.0')).toMatchObject({ pinned: '1.0.0', isLatest: false })
})

it('accepts a leading v, and falls back to the latest for an unknown version', () => {
  expect(chosenVersion(detail, 'v1.0.0')).toMatchObject({ shown: '1.0.0', unknown: undefined })
  expect(chosenVersion(detail, '9.9.9')).toMatchObject({ shown: '2.0.0', unknown: '9.9.9' })
  expect(chosenVersion({ versions: [], latestVersion: undefined }, '')).toMatchObject({
    shown: undefined,
    pinned: undefined,
  })
})
