import { expect, it } from 'vitest'
import { hclTokens } from './hcl.ts'

const kinds = (source: string) =>
  hclTokens(source)
    .filter(({ kind }) => kind !== 'plain')
    .map(({ kind, text }) => `${kind}: ${text}`)

it('colours blocks, strings and comments', () => {
  const source =
    'module "vpc" {\n  source = "a/b/c" # pinned\n  data = 1\n}\n// done\n/* and\nmore */'
  expect(kinds(source)).toEqual([
    'key: module',
    'string: "vpc"',
    'string: "a/b/c"',
    'comment: # pinned',
    'key: data',
    'comment: // done',
    'comment: /* and\nmore */',
  ])
})

it.each([
  '"never closed\nnext',
  '/* never closed',
  '"\\"',
  '',
  '"'.repeat(5000),
  '/*'.repeat(5000),
])('keeps unknown text', (source) => {
  expect(
    hclTokens(source)
      .map(({ text }) => text)
      .join(''),
  ).toBe(source)
})
