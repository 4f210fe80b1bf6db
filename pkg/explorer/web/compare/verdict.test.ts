import { expect, it } from 'vitest'
import type { ModuleComparison } from '../api/records.ts'
import { verdictOf } from './groups.ts'

type Verdict = ModuleComparison['verdict']

const compared = (
  verdicts: readonly Verdict[],
  from = '1.4.0',
  to = '2.0.0',
): ModuleComparison => ({
  from,
  to,
  verdict: verdicts[0] ?? 'compatible',
  changes: verdicts.map((verdict, at) => ({
    kind: 'input',
    path: '',
    name: `input_${at}`,
    verdict,
    why: 'Because.',
  })),
  readme: 'same',
  dependencies: [],
})

it.each([
  [[], 'quiet', 'Nothing changed for callers of 1.4.0'],
  [['compatible'], 'quiet', 'Nothing breaks callers of 1.4.0'],
  [['unknown', 'compatible'], 'warn', '1 change could not be decided'],
  [['breaking', 'unknown'], 'fail', '1 change breaks callers of 1.4.0'],
  [['breaking', 'breaking'], 'fail', '2 changes break callers of 1.4.0'],
] as const)('says about %j in %s: %s', (verdicts, tone, title) => {
  expect(verdictOf(compared(verdicts))).toMatchObject({ tone, title })
})

it('does not claim that nothing breaks if a file cannot be parsed', () => {
  const { changes, ...rest } = compared(['unknown'])
  const verdict = verdictOf({
    ...rest,
    changes: changes.map((each) => ({ ...each, kind: 'parser' })),
  })
  expect(verdict).toEqual({
    tone: 'warn',
    title: 'A file cannot be parsed, so not everything could be compared',
    promise: '',
  })
})

it.each([
  ['1.4.0', '2.0.0', /^2\.0\.0 is a new major version, so/],
  ['1.4.0', '1.5.0-rc.1', /is only a new minor version, so its number promises not to/],
  ['1.4.0', '1.4.1', /is only a new patch version/],
  ['0.4.0', '0.5.0', /^Before 1\.0\.0/],
  ['0.4.0', '1.0.0', /is a new major version/],
  ['2.0.0', '1.4.0', /^$/],
  ['1.4.0-rc.1', '1.4.0', /^$/],
  ['1.4', '2.0.0', /^$/],
  ['main', '2.0.0', /^$/],
])('judges the number of a version that breaks callers: %s to %s', (from, to, promise) => {
  expect(verdictOf(compared(['breaking'], from, to)).promise).toMatch(promise)
})
