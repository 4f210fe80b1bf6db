import { describe, expect, it } from 'vitest'
import { listedVersions, retention } from './versions.ts'

const versions = (...all: string[]) => all.map((version) => ({ version }))

describe('the versions of a spec', () => {
  it('are listed once each, newest first, with their spelling', () => {
    const { listed } = listedVersions(versions('v1.0.0', '1.0.0', 'v1.10.0', '1.9.0'))
    expect(listed.map(({ spelled }) => spelled)).toEqual(['v1.10.0', '1.9.0', 'v1.0.0'])
  })

  it('are skipped and reported if they are not valid', () => {
    const { listed, skipped } = listedVersions(versions('latest', '1.0', '1.0.0'))
    expect(listed).toHaveLength(1)
    expect(skipped.map(({ version }) => version)).toEqual(['latest', '1.0'])
  })
})

it('keeps retained versions, which do not count', () => {
  const newest = versions('3.0.0', '2.0.0', '1.0.0', '0.9.0')
  const kept = (limit: number, ...retained: string[]) =>
    retention(newest, limit, (version) => retained.includes(version)).map(({ version }) => version)
  expect(kept(1)).toEqual(['3.0.0'])
  expect(kept(1, '3.0.0')).toEqual(['3.0.0', '2.0.0'])
  expect(kept(2, '0.9.0')).toEqual(['3.0.0', '2.0.0', '0.9.0'])
  expect(kept(0)).toHaveLength(4)
  expect(kept(-1)).toHaveLength(4)
})
