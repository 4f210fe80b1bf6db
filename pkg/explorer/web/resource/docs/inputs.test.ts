import { expect, it } from 'vitest'
import type { ModuleInput } from '../../api/records.ts'
import { hasFilter, listedInputs } from './inputs.ts'

const input = (name: string, more: Partial<ModuleInput> = {}): ModuleInput => ({
  name,
  required: false,
  sensitive: false,
  nullable: true,
  ephemeral: false,
  validations: [],
  ...more,
})
const inputs = [
  input('tags', { type: 'map(string)' }),
  input('cidr', { required: true, description: 'Block of the VPC.' }),
  input('name', { required: true }),
  ...Array.from({ length: 8 }, (_, at) => input(`other_${at}`)),
]
const namesOf = (filter: string, all: readonly ModuleInput[] = inputs) =>
  listedInputs(all, filter).map(({ name }) => name)

it('lists required inputs first, each group in the order of the module', () => {
  expect(namesOf('').slice(0, 4)).toEqual(['cidr', 'name', 'tags', 'other_0'])
})

it.each([
  ['a name', 'OTHER_7', ['other_7']],
  ['a type', 'map(', ['tags']],
  ['a description', 'vpc', ['cidr']],
  ['nothing', '.*', []],
])('filters by the text of %s', (_what, filter, names) => {
  expect(namesOf(filter)).toEqual(names)
})

it('ignores the filter of a URL if the list is too short for one', () => {
  expect(hasFilter(inputs)).toBe(true)
  expect(hasFilter(inputs.slice(0, 10))).toBe(false)
  expect(namesOf('nothing', inputs.slice(0, 2))).toEqual(['cidr', 'tags'])
})
