import * as fc from 'fast-check'
import { SemVer } from 'semver'
import { expect, it } from 'vitest'
import { comparePrecedence, isPrerelease, isSemver, newestFirst } from './collections.ts'

/** The reference library; it also accepts `v1.2.3` and surrounding blanks, which no CLI does. */
function parsed(version: string): SemVer | undefined {
  if (!/^\d/.test(version) || version.trim() !== version) return undefined
  try {
    return new SemVer(version)
  } catch {
    return undefined
  }
}

const part = fc.oneof(
  fc.constantFrom('0', '1', '2', '10', '01', '9007199254740991', '9007199254740992', '', 'x'),
  fc.nat(30).map(String),
)
const identifier = fc.oneof(
  fc.constantFrom('rc', 'alpha', 'beta', '0', '1', '11', '01', '-', 'a-b', '1a', 'A', '', '_'),
  fc.string({ maxLength: 3 }),
)
const identifiers = fc.array(identifier, { maxLength: 3 }).map((all) => all.join('.'))
const version = fc
  .tuple(
    fc.array(part, { minLength: 2, maxLength: 4 }),
    fc.option(identifiers, { nil: undefined }),
    fc.option(identifiers, { nil: undefined }),
  )
  .map(([core, prerelease, build]) => {
    const after = prerelease === undefined ? '' : `-${prerelease}`
    return `${core.join('.')}${after}${build === undefined ? '' : `+${build}`}`
  })

it('accepts the same versions as the library', () => {
  fc.assert(
    fc.property(version, (text) => {
      expect(isSemver(text)).toBe(parsed(text) !== undefined)
      expect(isPrerelease(text)).toBe((parsed(text)?.prerelease.length ?? 0) > 0)
    }),
    { numRuns: 3_000 },
  )
})

it('orders as the library does', () => {
  fc.assert(
    fc.property(version, version, (a, b) => {
      const [left, right] = [parsed(a), parsed(b)]
      if (left === undefined || right === undefined) return
      expect(Math.sign(comparePrecedence(a, b))).toBe(left.compare(right))
      const order = right.compare(left) || right.compareBuild(left)
      const text = Number(a > b) - Number(a < b)
      expect(Math.sign(newestFirst(a, b))).toBe(order || text)
      expect(Math.sign(newestFirst(a, b))).toBe(-Math.sign(newestFirst(b, a)))
    }),
    { numRuns: 3_000 },
  )
})

it('sorts texts that are not versions last', () => {
  expect(['x', '1.0.0', '', '2.0.0-rc.1', 'v3.0.0'].toSorted(newestFirst)).toEqual([
    '2.0.0-rc.1',
    '1.0.0',
    '',
    'v3.0.0',
    'x',
  ])
})
