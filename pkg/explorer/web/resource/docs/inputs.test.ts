import { describe, expect, it } from 'vitest'
import type { ModuleInput, VersionDocs } from '../../api/records.ts'
import {
  groupsOf,
  hasFilter,
  inputGroups,
  listedInputs,
  localFolder,
  settableInputs,
} from './inputs.ts'

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
  listedInputs(all, { i_q: filter, i_group: '' }).map(({ name }) => name)

it('lists required inputs first, each group in the order of the module', () => {
  expect(namesOf('').slice(0, 4)).toEqual(['cidr', 'name', 'tags', 'other_0'])
})

it('copies no deprecated input that may be omitted', () => {
  const deprecated = 'Use name.'
  const some = [
    input('old', { deprecated }),
    input('kept', { default: null }),
    input('unknown'),
    input('must', { deprecated, required: true }),
  ]
  expect(settableInputs(some).map(({ name }) => name)).toEqual(['must', 'kept'])
})

it.each([
  ['a name', 'OTHER_7', ['other_7']],
  ['a type', 'map(', ['tags']],
  ['a description', 'vpc', ['cidr']],
  ['nothing', '.*', []],
])('filters by the text of %s', (_what, filter, names) => {
  expect(namesOf(filter)).toEqual(names)
})

it('offers groups with their sizes, and filters by them', () => {
  const some = [...inputs, input('old', { deprecated: 'Use name.' })]
  expect(inputGroups(some)).toEqual([
    ['', 'All 12'],
    ['required', 'Required 2'],
    ['optional', 'Optional 10'],
    ['deprecated', 'Deprecated 1'],
  ])
  expect(inputGroups(inputs).map(([group]) => group)).not.toContain('deprecated')
  const of = (i_group: 'required' | 'deprecated', i_q = '') =>
    listedInputs(some, { i_q, i_group }).map(({ name }) => name)
  expect(of('deprecated')).toEqual(['old'])
  expect(of('required', 'NAME')).toEqual(['name'])
})

it('ignores the filter of a URL if the list is too short for one', () => {
  expect(hasFilter(inputs)).toBe(true)
  expect(hasFilter(inputs.slice(0, 10))).toBe(false)
  expect(namesOf('nothing', inputs.slice(0, 2))).toEqual(['cidr', 'tags'])
})

it('groups inputs, and omits an empty group', () => {
  const sizes = (all: readonly ModuleInput[]) =>
    groupsOf(all).map(([words, group]) => [words, group.length])
  expect(sizes(inputs)).toEqual([
    ['Required', 2],
    ['Optional', 9],
  ])
  expect(sizes([input('a')])).toEqual([['Optional', 1]])
  expect(sizes([])).toEqual([])
})

describe('the page of a local module', () => {
  const folder = (path: string): VersionDocs['root'] => ({
    path,
    inputs: [],
    outputs: [],
    providers: [],
    resources: [],
    modules: [],
    refactorings: [],
  })
  const docsIn = (path: string): VersionDocs => ({
    schema: 1,
    version: '1.0.0',
    address: 'network/vpc/aws',
    root: folder(path),
    submodules: [folder('modules/subnet')],
    examples: [folder('examples/complete')],
  })

  it.each([
    ['', './modules/subnet', { tab: 'submodules', name: 'subnet' }],
    ['modules/other', '../subnet/', { tab: 'submodules', name: 'subnet' }],
    ['examples/complete', '../../', 'root'],
    ['examples/complete', '../..', 'root'],
    ['examples/complete', '../../modules/subnet', { tab: 'submodules', name: 'subnet' }],
    ['', './examples/complete', { tab: 'examples', name: 'complete' }],
    ['', './modules/none', undefined],
    ['', 'network/vpc/aws', undefined],
    ['', '//evil.example/modules/subnet', undefined],
    ['', undefined, undefined],
  ])('is found from %j by the source %j: %j', (from, source, part) => {
    expect(localFolder(docsIn(from), source)).toEqual(part)
  })
})
