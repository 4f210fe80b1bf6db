import { expect, it } from 'vitest'
import { incompleteReleases } from './release.ts'

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
