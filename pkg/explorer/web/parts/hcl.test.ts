import { expect, it } from 'vitest'
import { hclTokens, yamlTokens } from './hcl.ts'

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

it('colours the fields, strings and comments of YAML', () => {
  const source =
    'kind: Depot\nspec:\n  - name: a # b\n    # c: d\n    url: https://x.example/a:b\n    sha256: ""'
  const tokens = yamlTokens(source)
  expect(tokens.map(({ text }) => text).join('')).toBe(source)
  expect(
    tokens.filter(({ kind }) => kind !== 'plain').map(({ kind, text }) => [kind, text]),
  ).toEqual([
    ['field', 'kind'],
    ['field', 'spec'],
    ['field', 'name'],
    ['comment', '# b'],
    ['comment', '# c: d'],
    ['field', 'url'],
    ['field', 'sha256'],
    ['string', '""'],
  ])
})

it('colours long runs of blanks fast', () => {
  const blanks = ' '.repeat(200_000)
  expect(yamlTokens(`\v${blanks}`)).toEqual([{ kind: 'plain', text: `\v${blanks}` }])
  expect(hclTokens(`\v${blanks}`)).toEqual([{ kind: 'plain', text: `\v${blanks}` }])
})
