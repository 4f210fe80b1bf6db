import { describe, expect, it } from 'vitest'
import { behind, newerThan, pastedSource, withVersion } from './pasted.ts'

describe('a pasted text', () => {
  const module = 'module "vpc" {\n  source  = "depot.example.com/network/vpc/aws//modules/flow"\n'
  it.each([
    [`${module}  version = "6.38.3"\n}`, 'network/vpc/aws', '6.38.3'],
    [`${module}}`.replaceAll('\n', ''), 'network/vpc/aws', undefined],
    ['aws = { source = "hashicorp/aws" version = "~> 6.0" }', 'hashicorp/aws', '~> 6.0'],
    ['source = "tfr://localhost:8080/network/vpc/aws?version=1.0.0"', 'network/vpc/aws', '1.0.0'],
    ['depot.example.com/network/vpc/aws', 'network/vpc/aws', undefined],
    ['depot.example.com/hashicorp/aws', 'hashicorp/aws', undefined],
    ['network/vpc/aws', 'network/vpc/aws', undefined],
  ])('%j has the address %j and the version %j', (text, address, version) => {
    expect(pastedSource(text)).toMatchObject({ address, version })
  })

  it.each([
    [`${module}}`, { tab: 'submodules', name: 'flow' }],
    ['network/vpc/aws//examples/complete/', { tab: 'examples', name: 'complete' }],
    [
      'tfr://localhost:1/network/vpc/aws//modules/flow?version=1.0.0',
      { tab: 'submodules', name: 'flow' },
    ],
    ['network/vpc/aws//other/flow', undefined],
    ['network/vpc/aws//modules/a/b', undefined],
    ['network/vpc/aws', undefined],
  ])('%j has the folder %j', (text, folder) => {
    expect(pastedSource(text)?.folder).toEqual(folder)
  })

  it.each([
    'vpc',
    'network/vpc',
    'flow log',
    'https://depot.example.com/network/module/vpc',
    '/-/r/depot/module/vpc',
    'source = "./modules/vpc"',
    'source = "../vpc"',
    'source = "git::https://git.example.com/network/vpc.git?ref=v1.0.0"',
    'source = "',
    '',
  ])('%j is searched unchanged', (text) => {
    expect(pastedSource(text)).toBeUndefined()
  })
})

it.each([
  ['3.0.0', 'You use 3.0.0, the latest.'],
  ['2.0.0', 'You use 2.0.0: 1 version behind. Latest is 3.0.0.'],
  ['= v1.0.0', 'You use 1.0.0: 2 versions behind. Latest is 3.0.0.'],
  ['4.0.0-rc.1', 'You use 4.0.0-rc.1. Latest is 3.0.0.'],
  ['1.1.0', 'You use 1.1.0, which is not here. Latest is 3.0.0.'],
  ['~> 1.0', 'Your configuration takes ~> 1.0. Latest is 3.0.0.'],
])('says how far behind %j is', (used, said) => {
  const versions = ['4.0.0-rc.1', '3.0.0', '2.9.0', '2.0.0', '1.0.0'].map((version) => ({
    version,
    synced: version !== '2.9.0',
  }))
  expect(behind(used, { versions, latestVersion: '3.0.0' })).toBe(said)
  expect(behind(used, { versions: [] })).toBe('It has no version yet.')
})

it('lists the released versions after the used one, newest first', () => {
  const versions = ['3.0.0', '3.0.0-rc.1', '2.1.0', '2.0.0', '1.0.0'].map((version) => ({
    version,
    synced: version !== '2.1.0',
  }))
  expect(newerThan('1.0.0', { versions })).toEqual(['3.0.0', '2.0.0'])
  expect(newerThan('3.0.0', { versions })).toEqual([])
  expect(newerThan('1.5.0', { versions })).toBeUndefined()
  expect(newerThan('~> 1.0', { versions })).toBeUndefined()
})

it.each([
  [
    'source = "a/b/c"\n  version  = "1.0.0"\n  other = "1.0.0"',
    'version  = "2.0.0"\n  other = "1.0.0"',
  ],
  ['git::https://host/a/b/c?version=1.0.0&depth=1', '?version=2.0.0&depth=1'],
  ['source = "a/b?version=1.0.0"\n  version = "1.1.0"', 'a/b?version=1.0.0"\n  version = "2.0.0"'],
])('writes another version into %j', (block, end) => {
  expect(withVersion(block, '2.0.0')?.endsWith(end)).toBe(true)
})

it('adds no version to a block without one', () => {
  expect(withVersion('required_version = "1.0.0"', '2.0.0')).toBeUndefined()
})
