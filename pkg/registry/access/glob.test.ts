import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compileGlob } from './access.ts'

describe('a glob matches as path.Match of Go does', () => {
  it.each([
    ['abc', 'abc', true],
    ['*', 'abc', true],
    ['*c', 'abc', true],
    ['a*', 'a', true],
    ['a*', 'abc', true],
    ['a*', 'ab/c', false],
    ['a*/b', 'abc/b', true],
    ['a*/b', 'a/c/b', false],
    ['a*b*c*d*e*/f', 'axbxcxdxe/f', true],
    ['a*b*c*d*e*/f', 'axbxcxdxexxx/f', true],
    ['a*b*c*d*e*/f', 'axbxcxdxe/xxx/f', false],
    ['a*b*c*d*e*/f', 'axbxcxdxexxx/fff', false],
    ['a*b?c*x', 'abxbbxdbxebxczzx', true],
    ['a*b?c*x', 'abxbbxdbxebxczzy', false],
    ['ab[c]', 'abc', true],
    ['ab[b-d]', 'abc', true],
    ['ab[e-g]', 'abc', false],
    ['ab[^c]', 'abc', false],
    ['ab[^b-d]', 'abc', false],
    ['ab[^e-g]', 'abc', true],
    ['a\\*b', 'a*b', true],
    ['a\\*b', 'ab', false],
    ['a?b', 'a☺b', true],
    ['a[^a]b', 'a☺b', true],
    ['a???b', 'a☺b', false],
    ['a[^a][^a][^a]b', 'a☺b', false],
    ['[a-ζ]*', 'α', true],
    ['*[a-ζ]', 'A', false],
    ['a?b', 'a/b', false],
    ['a*b', 'a/b', false],
    ['[\\]a]', ']', true],
    ['[\\-]', '-', true],
    ['[x\\-]', 'x', true],
    ['[x\\-]', '-', true],
    ['[x\\-]', 'z', false],
    ['[\\-x]', 'x', true],
    ['[\\-x]', '-', true],
    ['[\\-x]', 'a', false],
    ['*x', 'xxx', true],
    ['', '', true],
    ['', 'a', false],
    ['*', '', true],
    ['*', 'a/b', false],
    ['**', 'ab', true],
    ['a**b', 'axb', true],
    ['*a*', 'bab', true],
    ['a[/]b', 'a/b', true],
    ['a[^x]b', 'a/b', true],
    [']', ']', true],
    ['a-b^', 'a-b^', true],
    ['[*]', '*', true],
    ['[[]', '[', true],
    ['[z-a]', 'm', false],
    ['vpc-*', 'VPC-a', false],
    ['?', '', false],
    ['?', '😀', true],
    ['*.*', 'a.b.c', true],
  ])('%j against %j is %j', (pattern, name, matched) => {
    expect(compileGlob(pattern)(name)).toBe(matched)
  })
})

describe('a malformed glob is refused before it is matched', () => {
  it.each([
    '[]a]',
    '[-]',
    '[x-]',
    '[-x]',
    '\\',
    '[a-b-c]',
    '[',
    '[^',
    '[^bc',
    'a[',
    'a/b[',
    'ok-*[',
    '*\\',
    '[a',
    '[a-',
    '[a-]',
    '[\\',
    '[^]a]',
    '*'.repeat(1025),
  ])('%j', (pattern) => {
    expect(() => compileGlob(pattern)).toThrow(
      expect.objectContaining({ reason: 'InvalidPattern' }),
    )
  })
})

it('takes literals literally', () => {
  const literal = fc.string({ unit: 'grapheme', maxLength: 50 })
  fc.assert(
    fc.property(literal, literal, (text, other) => {
      const matches = compileGlob(text.replaceAll(/[*?[\\]/g, (special) => `\\${special}`))
      expect(matches(text)).toBe(true)
      expect(matches(other)).toBe(other === text)
    }),
  )
})

it('does not take exponential time', () => {
  const matches = compileGlob(`${'a*'.repeat(500)}b`)
  expect(matches('a'.repeat(2000))).toBe(false)
})
