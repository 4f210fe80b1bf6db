import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { refused } from './builtins.ts'
import { ExpressionError } from './expr.ts'
import { compileExpression } from './expression.fixture.ts'

const text = readFileSync(new URL('README.md', import.meta.url), 'utf8')
const rows = text.matchAll(/^\| `(.+)` \| (?:`([^`]*)` )?\| `(true|false)` \|$/gm)
const examples = Array.from(rows, ([, source = '', groups = '', result]) => ({
  source: source.replaceAll('\\|', '|'),
  groups: groups.split(', ').filter((group) => group !== ''),
  result: result === 'true',
}))

it('the README has examples', () => {
  expect(examples).toHaveLength(9)
})

it.each(examples)('$source is $result as the README says', ({ source, groups, result }) => {
  expect(compileExpression(source)(groups)).toBe(result)
})

it('the README shows an error as it is', () => {
  const [, shown] = /```\n(unknown name[^`]*)\n```/.exec(text) ?? []
  expect(() => compileExpression('"a" in grups')).toThrow(ExpressionError)
  expect(() => compileExpression('"a" in grups')).toThrow(shown)
})

it('the page on authentication names every builtin that rules refuse', () => {
  const page = readFileSync(new URL('../../docs/authentication.md', import.meta.url), 'utf8')
  const named = new Set([...page.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  expect([...refused].filter((name) => !named.has(name))).toEqual([])
})
