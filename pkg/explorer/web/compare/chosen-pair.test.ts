import { expect, it } from 'vitest'
import { chosenPair, versionBefore } from './chosen-pair.ts'

const module = (latestVersion: string | undefined, ...numbers: readonly string[]) => ({
  versions: numbers.map((version) => ({ version, synced: true })),
  latestVersion,
})
const stable = module('2.0.0', '3.0.0-rc.1', '2.0.0', '1.1.0', '1.0.0')

it.each([
  ['the latest and the previous one', '', '', '1.1.0', '2.0.0'],
  ['a version and the latest', '1.0.0', '', '1.0.0', '2.0.0'],
  ['a version and the previous one', '', '1.1.0', '1.0.0', '1.1.0'],
  ['any two, the later one first', '3.0.0-rc.1', '1.0.0', '3.0.0-rc.1', '1.0.0'],
  ['versions with a leading v', 'v1.0.0', 'v2.0.0', '1.0.0', '2.0.0'],
  ['the same version twice', '2.0.0', '2.0.0', '2.0.0', '2.0.0'],
])('chooses %s', (_what, askedFrom, askedTo, from, to) => {
  const pair = chosenPair(stable, { from: askedFrom, to: askedTo })
  expect(pair).toEqual({ from, to, unknown: [] })
})

it('compares a release with the previous release that is stored', () => {
  const { versions } = module(undefined, '2.0.0', '2.0.0-rc.1', '1.9.0', '1.8.0+b-1', '1.8.0-rc.1')
  expect(versionBefore(versions, '2.0.0')).toBe('1.9.0')
  expect(versionBefore(versions, '2.0.0-rc.1')).toBe('1.9.0')
  expect(versionBefore(versions, '1.9.0')).toBe('1.8.0+b-1')
  expect(versionBefore(versions, '1.8.0+b-1')).toBe('1.8.0-rc.1')
  expect(versionBefore(versions, '1.8.0-rc.1')).toBeUndefined()
  const unstored = versions.map((one) => ({ ...one, synced: one.version !== '1.9.0' }))
  expect(versionBefore(unstored, '2.0.0')).toBe('1.8.0+b-1')
})

it('names versions that the module does not have', () => {
  const unknown = (from: string, to: string) => chosenPair(stable, { from, to })?.unknown
  expect(unknown('0.9.0', '2.0.0')).toEqual(['0.9.0'])
  expect(unknown('0.9.0', '9.0.0')).toEqual(['0.9.0', '9.0.0'])
  expect(unknown('', '9.0.0')).toEqual(['9.0.0'])
})

it('compares the newest two if no version is before the latest', () => {
  const pair = { from: '1.0.0', to: '2.0.0-rc.1', unknown: [] }
  const rest = { from: '', to: '' }
  expect(chosenPair(module('1.0.0', '2.0.0-rc.1', '1.0.0'), rest)).toEqual(pair)
  expect(chosenPair(module(undefined, '2.0.0-rc.1', '1.0.0'), rest)).toEqual(pair)
})

it('chooses nothing for a module with fewer than two versions', () => {
  expect(chosenPair(module(undefined), { from: '1.0.0', to: '2.0.0' })).toBeUndefined()
  expect(chosenPair(module('1.0.0', '1.0.0'), { from: '', to: '' })).toBeUndefined()
})
