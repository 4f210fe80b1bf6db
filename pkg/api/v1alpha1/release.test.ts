import { describe, expect, it } from 'vitest'
import { releaseText } from './archive.ts'
import {
  awaitedPlatforms,
  incompleteReleases,
  incompleteReleasesIn,
  takenTextOf,
} from './release.ts'
import type { Version } from './version.ts'

const list = (...parts: readonly string[]): string => parts.join('\n')

it('counts a Version for its own release, and for others once it is served', () => {
  const small = list('linux 1', 'windows 1')
  const large = list('darwin 1', 'linux 1', 'windows 1')
  const begun = [{ part: 'darwin 1', open: large }]
  const linux = { part: 'linux 1', open: small }
  expect(incompleteReleases([...begun, linux])).toEqual(
    new Map([
      [large, ['linux', 'windows']],
      [small, ['windows']],
    ]),
  )
  expect(incompleteReleases([...begun, linux, { part: 'windows 1', open: small }])).toEqual(
    new Map(),
  )
  expect(incompleteReleases([...begun, linux, { part: 'windows 1', open: undefined }])).toEqual(
    new Map(),
  )
})

it('does not complete two builds with the Versions of each other', () => {
  const [one, two] = [list('linux 1', 'windows 1'), list('linux 1', 'windows 2')]
  const parts = [
    { part: 'linux 1', open: one },
    { part: 'windows 2', open: two },
  ]
  expect([...incompleteReleases(parts).values()]).toEqual([['windows'], ['linux']])
})

describe('a Version that an older one of its platform hides', () => {
  const versionOf = (name: string, digest: string, released?: readonly string[]): Version => ({
    kind: 'Version',
    metadata: {
      name,
      namespace: 'team',
      uid: name,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: {},
      ownerReferences: [],
    },
    spec: {
      type: 'Provider',
      version: '1.0.0',
      operatingSystem: name.replace(/^\w-/, ''),
      architecture: 'amd64',
      upload: {
        sha256: digest.repeat(64),
        ...(released && {
          release: released.map((os) => ({
            platform: `${os}_amd64`,
            sha256: digest.repeat(64),
          })),
        }),
      },
    },
  })
  const first = versionOf('a-linux', 'a')

  it('waits, although no other Version of its release is there', () => {
    const hidden = versionOf('b-linux', 'b', ['linux', 'windows'])
    const text = releaseText(hidden.spec.upload?.release ?? [])
    const lacking = ['linux_amd64', 'windows_amd64']
    expect(incompleteReleasesIn([first, hidden])).toEqual(new Map([[text, lacking]]))
    expect(awaitedPlatforms(hidden, [first, hidden])).toEqual(lacking)
    expect(awaitedPlatforms(first, [first, hidden])).toEqual([])
    expect(takenTextOf(hidden, [first, hidden])).toMatch(
      /or none: a-linux \(linux_amd64\)\. Remove/,
    )
  })

  it('does not wait if the older one has the same archive, and the others are served', () => {
    const hidden = versionOf('b-linux', 'a', ['linux', 'windows'])
    const all = [first, hidden, versionOf('a-windows', 'a')]
    expect(awaitedPlatforms(hidden, all)).toEqual([])
    expect(takenTextOf(hidden, all)).toBe('')
  })
})
