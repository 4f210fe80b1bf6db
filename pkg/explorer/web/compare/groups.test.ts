import { expect, it } from 'vitest'
import type { InterfaceChange } from '../api/records.ts'
import { groupsOf } from './groups.ts'

const change = (more: Partial<InterfaceChange>): InterfaceChange => ({
  kind: 'input',
  path: '',
  name: 'a',
  verdict: 'compatible',
  why: 'Because.',
  ...more,
})
const idsOf = (...changes: InterfaceChange[]) => groupsOf({ changes }).map(({ id }) => id)

it.each([
  ['breaking', change({ verdict: 'breaking', after: 'string' })],
  ['breaking', change({ kind: 'state', verdict: 'breaking', before: 'aws_vpc.this' })],
  ['undecided', change({ kind: 'module', verdict: 'unknown', before: 'a', after: 'b' })],
  ['undecided', change({ kind: 'parser', verdict: 'unknown' })],
  ['new', change({ after: 'string' })],
  ['new', change({ kind: 'submodule', after: 'modules/a' })],
  ['changed', change({ before: 'no default', after: 'default = 1' })],
  ['changed', change({ kind: 'provider', before: 'hashicorp/aws' })],
  ['internal', change({ kind: 'state', before: 'aws_vpc.this' })],
  ['internal', change({ kind: 'resource', after: 'aws_vpc.this' })],
  ['internal', change({ kind: 'module', after: './m' })],
] as const)('groups as %s: %j', (id, only) => {
  expect(idsOf(only)).toEqual([id])
})

it('has the worst group first, and leaves out groups without changes', () => {
  const internal = change({ kind: 'resource', after: 'aws_vpc.this' })
  const breaking = change({ verdict: 'breaking', before: 'string' })
  expect(idsOf(internal, change({ after: 'string' }), breaking)).toEqual([
    'breaking',
    'new',
    'internal',
  ])
  expect(idsOf()).toEqual([])
})
