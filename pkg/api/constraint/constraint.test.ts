import * as fc from 'fast-check'
import { SemVer } from 'semver'
import { expect, it } from 'vitest'
import {
  ConstraintError,
  constraintLengths,
  constraintSyntax,
  maxConstraintLength,
  parseConstraints,
  selectVersions,
} from './constraint.ts'

it.each([
  ['> 1.2.x', 0],
  ['>= 1.0, ~>', 8],
  ['>= 1.0,', 7],
  ['1.2.3.4', 0],
  ['^1.2', 0],
  ['>= 1.0 < 2.0', 0],
  ['=> 1', 0],
  ['latest', 0],
  ['1.0.0-01', 0],
  ['>= 99999999999999999999.0', 0],
  [`>= 1.0${' '.repeat(2000)}`, 1024],
])('refuses %j and names the position', (text, position) => {
  expect(() => parseConstraints(text)).toThrow(
    expect.objectContaining({ name: 'ConstraintError', position }),
  )
})

it('shows the wrong clause without control characters', () => {
  expect(() => parseConstraints('>= 1, \u001b[31m')).toThrow(ConstraintError)
  expect(() => parseConstraints('>= 1, \u001b[31m')).toThrow(/"\\u001b\[31m" at character 7/)
})

it('selects everything except prereleases if there are no clauses', () => {
  const versions = ['v1.0.0', '2.0.0-rc.1', '1.10.0', 'latest', '1.9.0', '1.0.0']
  expect(selectVersions(versions, parseConstraints(' '))).toEqual({
    versions: ['1.10.0', '1.9.0', 'v1.0.0'],
    skipped: 1,
  })
})

it('selects a prerelease only if a clause names one of the same numbers', () => {
  const versions = ['1.0.0-rc.1', '1.0.0-rc.2', '1.1.0-rc.1', '1.0.0']
  const chosen = (text: string) => selectVersions(versions, parseConstraints(text)).versions
  expect(chosen('!= 1.0.0')).toEqual([])
  expect(chosen('>= 1.0.0-rc.2')).toEqual(['1.0.0', '1.0.0-rc.2'])
  expect(chosen('1.1.0-rc.1')).toEqual(['1.1.0-rc.1'])
})

it('keeps the newest by precedence', () => {
  const versions = ['1.2.0', '1.10.0', '1.9.0']
  const all = parseConstraints('')
  const newest = (historyLimit?: number) => selectVersions(versions, all, { historyLimit }).versions
  expect(newest(2)).toEqual(['1.10.0', '1.9.0'])
  for (const limit of [0, -1, undefined]) {
    expect(newest(limit)).toEqual(['1.10.0', '1.9.0', '1.2.0'])
  }
})

it('has no upper bound for ~> with one number', () => {
  expect(parseConstraints('~> 1').allows(new SemVer('7.0.0'))).toBe(true)
  expect(parseConstraints('~> 1.2').allows(new SemVer('1.9.0'))).toBe(true)
  expect(parseConstraints('~> 1.2').allows(new SemVer('2.0.0'))).toBe(false)
})

it('gives API servers a pattern that accepts what it parses, except an empty text', () => {
  const parts = [
    '1',
    '0',
    '01',
    '.',
    '-',
    'rc',
    ' ',
    ',',
    '>=',
    '~>',
    '!=',
    '=',
    'v',
    '+',
    '~',
    'x',
  ]
  const text = fc.array(fc.constantFrom(...parts), { maxLength: 9 }).map((all) => all.join(''))
  const parses = (one: string) => {
    try {
      parseConstraints(one)
      return one.trim() !== ''
    } catch {
      return false
    }
  }
  fc.assert(
    fc.property(text, (one) => {
      expect([one, constraintSyntax.test(one)]).toEqual([one, parses(one)])
    }),
    { numRuns: 5000 },
  )
})

it('parses every text of any length that API servers accept', () => {
  const number = fc.stringMatching(/^[0-9]{1,15}$/)
  const identifier = fc.oneof(
    fc.nat({ max: 400 }).map((length) => `x${'9'.repeat(length)}`),
    fc.nat({ max: 300 }).map((length) => `1${'0'.repeat(length)}`),
  )
  const tail = (sign: string) =>
    fc
      .array(identifier, { maxLength: 3 })
      .map((all) => (all.length === 0 ? '' : sign + all.join('.')))
  const clause = fc
    .tuple(
      fc.constantFrom('', ' >= ', '~>v', '!='),
      fc.array(number, { minLength: 1, maxLength: 3 }),
      tail('-'),
      tail('+'),
    )
    .map(([operator, numbers, prerelease, build]) =>
      [operator, numbers.join('.'), prerelease, build].join(''),
    )
  const text = fc.array(clause, { minLength: 1, maxLength: 6 }).map((all) => all.join(','))
  let accepted = 0
  const longest = [`1-${'x'.repeat(250)}`, `1-${'x'.repeat(251)}`, `1,${'1'.repeat(1024)}`]
  fc.assert(
    fc.property(text, (one) => {
      if (!constraintSyntax.test(one) || !constraintLengths.test(one)) return
      if (one.length > maxConstraintLength) return
      accepted += 1
      parseConstraints(one)
    }),
    { numRuns: 5000, examples: longest.map((one) => [one]) },
  )
  expect(accepted).toBeGreaterThan(100)
})
