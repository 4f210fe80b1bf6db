import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { assignable, parseType } from './type-expression.ts'

const verdictOf = (from: string | undefined, to: string | undefined) => {
  const [before, after] = [parseType(from), parseType(to)]
  if (before === undefined || after === undefined) throw new Error('not a type')
  return assignable(before, after)
}

/** Every row of the table in docs/compare.md: type before, type after, verdict. */
const page = readFileSync(join(import.meta.dirname, '../../../docs/compare.md'), 'utf8')
const typeIn = (cell = ''): string | undefined =>
  cell === 'no type' ? undefined : cell.replaceAll('`', '')
const rows = [...page.matchAll(/^\| (.+?) \| (.+?) \| (compatible|unknown|breaking) \|$/gm)].map(
  ([, from, to, verdict]) => [typeIn(from), typeIn(to), verdict] as const,
)

it('the documentation has the rules of every type', () => {
  expect(rows.length).toBeGreaterThan(50)
})

it.each(rows)('from %s to %s is %s', (from, to, verdict) => {
  expect(verdictOf(from, to).verdict).toBe(verdict)
})

it('names the part that breaks', () => {
  const { why } = verdictOf(
    'map(object({ zones = list(string) }))',
    'map(object({ zones = list(string), size = number }))',
  )
  expect(why).toBe('[*].size is a new required attribute')
})

describe('a type expression', () => {
  it('may have comments, lines, quotes, colons and defaults with brackets', () => {
    const type = parseType(`object({
      # first
      a    = string // second
      "b"  : optional(list(string), ["x)", ")"]),
      c    = optional(object({ d = number }), { d = max(1, 2) }) /* third */
    })`)
    expect(type).toMatchObject({ is: 'object' })
    expect(type?.is === 'object' && [...type.attributes.keys()]).toEqual(['a', 'b', 'c'])
  })

  it.each([
    '',
    'strin',
    'list(',
    'list(string',
    'object({ a })',
    'string string',
    'tuple([string',
    '${x}',
  ])('is refused if it is invalid: %s', (text) => {
    expect(parseType(text)).toBeUndefined()
  })

  it('is refused if it is nested too deeply', () => {
    expect(parseType(`${'list('.repeat(5000)}string${')'.repeat(5000)}`)).toBeUndefined()
  })
})

const { type: anyType } = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom('string', 'number', 'bool', 'any'),
    tie('type').map((type) => `list(${type})`),
    tie('type').map((type) => `set(${type})`),
    tie('type').map((type) => `map(${type})`),
    fc.array(tie('type'), { maxLength: 3 }).map((types) => `tuple([${types.join(', ')}])`),
    fc
      .dictionary(fc.constantFrom('a', 'b', 'c'), fc.tuple(tie('type'), fc.boolean()))
      .map((attributes) =>
        Object.entries(attributes)
          .map(([name, [type, optional]]) => `${name} = ${optional ? `optional(${type})` : type}`)
          .join(', '),
      )
      .map((text) => `object({ ${text} })`),
  ),
}))

it('a type is assignable from itself, and to any', () => {
  fc.assert(
    fc.property(anyType, (type) => {
      const to = parseType(type)
      expect(to && assignable(to, to).verdict).toBe('compatible')
      expect(to && assignable(to, { is: 'any' }).verdict).toBe('compatible')
    }),
  )
})
