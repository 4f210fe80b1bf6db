import * as fc from 'fast-check'
import { SemVer } from 'semver'
import { expect, it } from 'vitest'
import { excludedVersion, parseConstraints } from './constraint.ts'

it.each([
  ['>= 1.3', '>= 1.3', undefined],
  ['>= 1.3', '>= 1.2', undefined],
  [undefined, '>= 1.0', '0.0.0'],
  ['>= 1.0', undefined, undefined],
  ['~> 5.0', '~> 5.1', '5.0.0'],
  ['~> 5.1', '~> 5.0', undefined],
  ['~> 5.0', '~> 6.0', '5.0.0'],
  ['~> 5.0', '>= 5.0, < 6.0', undefined],
  ['>= 5.0', '>= 5.0, < 6.0', '6.0.0'],
  ['>= 5.0', '>= 5.0, != 5.4.1', '5.4.1'],
  ['1.2.3', '>= 1.2.3', undefined],
  ['1.2.3-rc.1', '1.2.3', '1.2.3-rc.1'],
  ['>= 1.2.3-rc.1', '>= 1.2.3', '1.2.3-rc.1'],
  ['>= 1.0.0-20261127123456789012', '>= 9007199254740991.0.0', '1.0.0'],
])('from %s to %s excludes %s', (from, to, excluded) => {
  expect(excludedVersion(from, to)).toBe(excluded)
})

const clause = fc
  .tuple(
    fc.constantFrom('', '>', '>=', '<', '<=', '!=', '~>'),
    fc.nat(3),
    fc.nat(3),
    fc.nat(3),
    fc.integer({ min: 1, max: 3 }),
  )
  .map(([operator, a, b, c, segments]) => `${operator} ${[a, b, c].slice(0, segments).join('.')}`)
const constraint = fc
  .array(clause, { minLength: 1, maxLength: 3 })
  .map((clauses) => clauses.join(', '))
const everyVersion = [0, 1, 2, 3, 4].flatMap((a) =>
  [0, 1, 2, 3, 4].flatMap((b) => [0, 1, 2, 3, 4].map((c) => new SemVer(`${a}.${b}.${c}`))),
)

it('finds a version exactly if there is one', () => {
  fc.assert(
    fc.property(constraint, constraint, (from, to) => {
      const [before, after] = [parseConstraints(from), parseConstraints(to)]
      const isNarrower = everyVersion.some((each) => before.allows(each) && !after.allows(each))
      const found = excludedVersion(from, to)
      expect(isNarrower && found === undefined).toBe(false)
      const version = new SemVer(found ?? '0.0.0')
      expect(found === undefined || (before.allows(version) && !after.allows(version))).toBe(true)
    }),
  )
})
