import { describe, expect, it } from 'vitest'
import { freeName, labelValue, objectName } from './objects.ts'

describe('the name of a Version', () => {
  it.each([
    [['vpc', '1.2.3'], 'vpc-1-2-3'],
    [['vpc', '1.0.0+build.5'], 'vpc-1-0-0-build-5'],
    [['My_Module', '1.0.0-RC.1'], 'my-module-1-0-0-rc-1'],
    [['_x_', '1.0.0'], 'x--1-0-0'],
  ])('for %j is %s', (parts, name) => {
    expect(objectName(...parts)).toBe(name)
  })

  it('has a digest if it is taken', () => {
    const name = freeName('vpc-1-0-0', 'Module team/vpc/aws 1.0.0+b', () => true)
    expect(name).toMatch(/^vpc-1-0-0-[0-9a-f]{8}$/)
    expect(freeName('vpc-1-0-0', 'Module team/vpc/aws 1.0.0-b', () => true)).not.toBe(name)
    expect(freeName('vpc-1-0-0', 'Module team/vpc/aws 1.0.0+b', () => false)).toBe('vpc-1-0-0')
  })

  it('has at most 200 characters', () => {
    expect(freeName('v'.repeat(300), 'a', () => false)).toHaveLength(200)
  })
})

it('replaces an invalid label value by a digest', () => {
  expect(labelValue('vpc')).toBe('vpc')
  for (const text of ['x'.repeat(64), 'ends-with-', 'a b']) {
    expect(labelValue(text)).toMatch(/^[0-9a-f]{40}$/)
  }
})
