import { expect, it } from 'vitest'
import { chosenVersion } from './version-pick.tsx'

const versions = [
  { version: '2.0.0', synced: false },
  { version: '1.0.0', synced: true },
]
const showing = (selectedVersion: string) => ({ versions, latestVersion: '2.0.0', selectedVersion })

it('shows the latest version, or the one of the URL', () => {
  const latest = { shown: '2.0.0', synced: false, isLatest: true, unknown: undefined }
  expect(chosenVersion(showing('2.0.0'), '')).toEqual(latest)
  const older = { shown: '1.0.0', synced: true, isLatest: false, unknown: undefined }
  expect(chosenVersion(showing('1.0.0'), '1.0.0')).toEqual(older)
})

it('accepts a leading v, and names an unknown version', () => {
  expect(chosenVersion(showing('1.0.0'), 'v1.0.0').unknown).toBeUndefined()
  expect(chosenVersion(showing('2.0.0'), '9.9.9')).toMatchObject({
    shown: '2.0.0',
    unknown: '9.9.9',
  })
  const built = { versions: [{ version: '1.0.0+b.1', synced: true }], latestVersion: '1.0.0+b.1' }
  const asked = { ...built, selectedVersion: '1.0.0+b.1' }
  expect(chosenVersion(asked, '1.0.0 b.1').unknown).toBeUndefined()
  const none = { versions: [], latestVersion: undefined, selectedVersion: undefined }
  expect(chosenVersion(none, '')).toMatchObject({ shown: undefined, synced: false })
})
