import { describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { parseAnyYaml, parseYaml } from './documents.ts'
import { readPlainYaml } from './plain-yaml.ts'

/** A seeded generator: the same numbers for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const words =
  "text,1.9.0,1.10,v1,007,-1,-x,-0,0x1f,0b1,1e3,.5,1_000,2026-11-22T09:35:02Z,a: b,a #b,a:,:a,#a,it's,tree1:p+9/="
const signs =
  '"a"; say "a"; a ;a\nb;a\tb;ä…;\u00a0;\u2028;\ufeff;~;null;yes;True;.inf;- a;? a;[a;{a;a];a, b;&a;*a;!a;|;>;%a;@a;`a;---;...;<<;'
const numbers = [0, 7, -7, 1.5, 1e21, -0, true, false, null]
const scalars = [...words.split(','), ...signs.split(';'), ...numbers]
const keys = 'a,b,name,depot.internal/module,1.9.0,1,true,null,a b,-,<<,é'.split(',')

function valueFrom(random: (below: number) => number, depth: number): unknown {
  const kind = depth === 0 ? 9 : random(10)
  if (kind > 4) return scalars[random(scalars.length)]
  const values = Array.from({ length: random(4) }, () => valueFrom(random, depth - 1))
  if (kind < 2) return values
  return Object.fromEntries(values.map((value) => [keys[random(keys.length)], value]))
}

const pieces = [
  ' ',
  '  ',
  '- ',
  ': ',
  '#',
  ' # c',
  '\n',
  'a: b\n',
  '\n---\n',
  '\t',
  '\r',
  '"',
  "'",
  '&a ',
]

/** Inserts or removes something at a random position of the text. */
function damaged(text: string, random: (below: number) => number): string {
  const at = random(text.length + 1)
  const piece = pieces[random(pieces.length)] ?? ''
  return `${text.slice(0, at)}${random(2) === 0 ? piece : ''}${text.slice(at + random(3))}`
}

/** Keeps the order of fields, and tells -0 from 0. */
const shown = (value: unknown) =>
  JSON.stringify(value, (_, each: unknown) => (Object.is(each, -0) ? '-0' : each))

describe('the plain part of YAML', () => {
  it('gives the same as full YAML, or leaves the document to that', () => {
    const random = randomFrom(20_261_122)
    let read = 0
    for (let round = 0; round < 6_000; round += 1) {
      const indentSeq = random(2) === 0
      const written = stringify({ spec: valueFrom(random, 4) }, { lineWidth: 0, indentSeq })
      const text = round % 4 === 0 ? written : damaged(damaged(written, random), random)
      const plain = readPlainYaml(text)
      if (plain === undefined) continue
      read += 1
      const any = parseAnyYaml(text)
      expect.soft(any.ok && shown(any.value), JSON.stringify(text)).toBe(shown(plain.value))
      expect.soft(parseYaml(text)).toMatchObject({ ok: true })
      const [line, expected] = [parseYaml(text), any].map((each) => each.ok && each.lineOf([]))
      expect.soft(line, JSON.stringify(text)).toBe(expected)
    }
    expect(read).toBeGreaterThan(1_500)
  })

  it.each([
    ['kubectl writes', '---\n# a comment\nkind: List\nitems:\n- a: 1\n  b:\n  - x\n-   c: "y"\n'],
    [
      'a person writes',
      '\n\nkind: Module\n\n  # why\nspec:\n    a: b\n    c:   {}\n    d:\n    e: []\n',
    ],
    ['an item of a list has', '- kind: Version\n  spec:\n    version: 1.0.0\n'],
  ])('includes what %s', (_, text) => {
    const plain = readPlainYaml(text)
    const any = parseAnyYaml(text)
    expect(plain?.value).toEqual(any.value)
    const [ours, theirs] = [parseYaml(text), any].map((each) =>
      each.ok ? [[], [0], ['spec'], ['spec', 'c']].map((path) => each.lineOf(path)) : undefined,
    )
    expect(ours).toEqual(theirs)
  })

  it.each([
    ['a key twice', 'a: 1\na: 2\n'],
    ['an alias', 'a: &x 1\nb: *x\n'],
    ['text of several lines', 'a: b\n  c\n'],
    ['a block of text', 'a: |\n  b\n'],
    ['a flow', 'a: {b: c}\n'],
    ['a tag', 'a: !!str 1\n'],
    ['a merge', 'a:\n  <<: {b: c}\n'],
    ['two documents', 'a: 1\n---\nb: 2\n'],
    ['an indentation of its own', 'a:\n    b: 1\n  c: 2\n'],
    ['a tab', 'a:\tb\n'],
    ['a prototype', '__proto__: 1\n'],
    ['a number with a fraction', 'a: 1.5\n'],
    ['a number too large', 'a: 12345678901234567890\n'],
    ['a comment behind a value', 'a: b # c\n'],
    ['a text alone', 'a\n'],
    ['nothing', '# a\n'],
    [
      'a depth that no program writes',
      Array.from({ length: 100 }, (_, at) => `${' '.repeat(at)}a:`).join('\n'),
    ],
    [
      'a depth of items that no program writes',
      Array.from({ length: 100 }, (_, at) => `${' '.repeat(2 * at)}- a:`).join('\n'),
    ],
  ])('excludes %s', (_, text) => {
    expect(readPlainYaml(text)).toBeUndefined()
  })

  it('is read in linear time', () => {
    const lines = Array.from({ length: 100_000 }, (_, at) => `  key-${at}: ${'- '.repeat(5)}x`)
    expect(readPlainYaml(`a:\n${lines.join('\n')}`)).toBeUndefined()
    const fields = lines.map((_, at) => `  key-${at}: text`).join('\n')
    expect(readPlainYaml(`a:\n${fields}`)).toBeDefined()
  })
})
