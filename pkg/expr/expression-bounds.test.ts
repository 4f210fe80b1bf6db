import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ExpressionError } from './expr.ts'
import { compileExpression } from './expression.fixture.ts'

/** true, false, or the code of the error. */
function outcome(source: string, groups: readonly string[] = []): boolean | string {
  try {
    return compileExpression(source)(groups)
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown
    return thrown.code
  }
}

const nest = (depth: number, open: string, inner: string, close: string): string =>
  open.repeat(depth) + inner + close.repeat(depth)

describe('an expression that is too large is refused', () => {
  it.each([
    ['a long source', `true ${' '.repeat(16 * 1024)}`],
    ['a giant string', `"${'a'.repeat(20_000)}" in groups`],
    ['parentheses in parentheses', nest(5000, '(', 'true', ')')],
    ['lists in lists', `${nest(5000, '[', '', ']')} != nil`],
    ['closures in closures', nest(1000, 'any(groups, ', 'true', ')')],
    ['branches in branches', nest(2000, 'true ? ', 'true', ' : true')],
    ['branches after branches', `${'false ? true : '.repeat(1000)}true`],
    ['conditions before branches', nest(1000, '(', 'true', '?: true)')],
    ['blocks in blocks', nest(600, 'if true { ', 'true', ' } else { true }')],
    ['else after else', `${'if false { true } else '.repeat(600)}{ true }`],
    [
      'variables after variables',
      `${Array.from({ length: 900 }, (_, n) => `let v${n} = 1;`).join('')}true`,
    ],
    ['signs before signs', `${'-'.repeat(10_000)}1 == 1`],
    ['powers of powers', `${'2**'.repeat(5000)}2 > 1`],
    ['members of members', `{}${'?.a'.repeat(5000)} == nil`],
    ['elements of elements', `groups${'[0]'.repeat(4000)} == nil`],
    ['slices of slices', `groups${'[:]'.repeat(4000)} == nil`],
    ['pipes after pipes', `groups ${'| take(1)'.repeat(1500)} == groups`],
    ['unclosed brackets', '(['.repeat(8000)],
    ['unclosed closures', 'any(groups,{'.repeat(1300)],
    ['many parts', `${'1+'.repeat(6000)}1 > 1`],
  ])('%s', (_, source) => {
    expect(outcome(source)).toBe('TooLarge')
  })
})

describe('a long rule is not deeply nested', () => {
  it.each([
    [
      'or',
      Array.from({ length: 800 }, (_, n) => `"g${n}" in groups`)
        .concat('"g999" in groups')
        .join('||'),
    ],
    [
      'and',
      `${Array.from({ length: 600 }, (_, n) => `"g${n}" not in groups`).join('&&')} && "g999" in groups`,
    ],
    ['plus', `${'1+'.repeat(4900)}1 > 1 && "g999" in groups`],
    ['comparisons', `${'1<='.repeat(3000)}1 && "g999" in groups`],
    ['nil coalescing', `(${'nil??'.repeat(3000)}groups[0]) == "g999"`],
    [
      'any in every term',
      Array.from({ length: 300 }, (_, n) => `any(groups,# == "g${699 + n + 1}")`).join(' || '),
    ],
    ['200 brackets', nest(200, '(', '"g999" in groups', ')')],
  ])('%s', (_, source) => {
    expect(outcome(source, ['g999'])).toBe(true)
    expect(outcome(source, ['dev'])).toBe(false)
  })
})

describe('work is bounded', () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `group-${index}`)
  it.each([
    ['a huge range', 'any(1..100000000, # == 5)'],
    ['the largest range', 'len(1..9223372036854775807) > 0'],
    ['ranges in ranges', 'any(1..2000, any(1..2000, any(1..2000, false)))'],
    ['a repeated string', 'len(repeat("ab", 500000)) > 0'],
    ['a string repeated without end', 'len(repeat("ab", 9223372036854775807)) > 0'],
    ['repeated repetition', 'len(repeat(repeat(repeat("x", 900), 900), 900)) > 0'],
    ['doubling a string', 'len(reduce(1..100, #acc + #acc, "x")) > 0'],
    ['doubling a list', 'len(reduce(1..100, concat(#acc, #acc), [1])) > 0'],
    ['doubling a nested list', 'len(string(reduce(1..60, [#acc, #acc], [1]))) > 0'],
    [
      'comparing doubled lists',
      'reduce(1..60, [#acc, #acc], [1]) == reduce(1..60, [#acc, #acc], [1])',
    ],
    ['flattening a doubled list', 'len(flatten(reduce(1..60, [#acc, #acc], [1]))) > 0'],
    ['the maximum of a doubled list', 'max(reduce(1..60, [#acc, #acc], [1])) > 0'],
    ['a list in a list in a list', 'string(reduce(1..300000, [#acc], [])) == ""'],
    ['replacing by more', 'len(reduce(1..9, replace(#acc, "x", "xxxxxxxxxx"), "x")) > 0'],
    ['inserting everywhere', 'len(reduce(1..30, replace(#acc, "", "xx"), "x")) > 0'],
    ['joining', 'len(join(map(1..400000, "0123456789012345678901234567890123456789"), "-")) > 0'],
    ['looking for everyone in everyone', 'all(groups, all(groups, # in groups))'],
    [
      'comparing everyone with everyone',
      'all(groups, {let a = #; all(groups, {let b = #; a == b || a != b})})',
    ],
    ['compiling patterns', 'any(1..1000000, "a" matches string(#))'],
    ['matching long texts', 'let text = repeat("a", 900000); all(1..10, text matches "(a|aa)+$")'],
    ['slicing a long text', 'any(1..500000, repeat("a", 400000)[1:] == "")'],
    ['unlike things in a list of many', 'len(uniq(map(1..90000, [#]))) > 0'],
  ])('%s', (_, source) => {
    expect(outcome(source, many)).toBe('WorkExceeded')
  })

  it('allows a rule about many groups', () => {
    expect(outcome('any(groups, # matches "^group-9{4}$")', many)).toBe(true)
    expect(outcome('len(uniq(map(groups, lower(#)))) == 10000', many)).toBe(true)
    expect(outcome('all(["group-1", "group-9999"], # in groups)', many)).toBe(true)
    expect(outcome('sort(groups)[0] == "group-0"', many)).toBe(true)
  })

  it('does not add up over evaluations', () => {
    const expression = compileExpression('any(1..900, any(1..900, # < 0))')
    expect([expression([]), expression([])]).toEqual([false, false])
  })
})

describe('patterns take linear time', () => {
  it.each([
    ['"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" matches "^(a+)+$"', false],
    ['repeat("a", 5000) matches "^(a|a?)+$"', true],
    ['"x" matches "(.{0,1000}x){40}"', 'InvalidPattern'],
    ['"x" matches "((((x{10}){10}){10}){10})"', 'InvalidPattern'],
    [`"x" matches "${'x'.repeat(513)}"`, 'InvalidPattern'],
    ['"x" matches repeat("x", 513)', 'EvaluationFailed'],
    ['"x" matches repeat("(", 500)', 'EvaluationFailed'],
  ])('%s', (source, expected) => {
    expect(outcome(source)).toBe(expected)
  })
})

const words = (
  'groups true false nil any all none one filter map count sum find findLast findIndex reduce sortBy len first last get ' +
  'join split upper string int float type max min keys values flatten uniq sort concat repeat replace trim not in or and ' +
  'matches contains startsWith endsWith let if else # #index #acc . .. ?. ?? ? : ; , | || && ! == != < > <= >= + - * / % ** ' +
  '^ ( ) [ ] { } ( ) [ ] { } "a" \'b\' `c` "(" 0 1 2 -1 1.5 0x1F 1e3 9223372036854775807 x = // /* */ $ @ \\ é 😀'
).split(' ')

it('answers random words with true, false or an ExpressionError', () => {
  const heap = fc.array(fc.constantFrom(...words), { maxLength: 25 })
  const groups = fc.array(fc.string({ unit: 'binary' }), { maxLength: 4 })
  fc.assert(
    fc.property(heap, fc.constantFrom('', ' ', '\n'), groups, (parts, glue, list) => {
      expect(['boolean', 'string']).toContain(typeof outcome(parts.join(glue), list))
    }),
    { numRuns: 3000 },
  )
})

it('answers random text with true, false or an ExpressionError', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      expect(['boolean', 'string']).toContain(typeof outcome(text))
      expect(['boolean', 'string']).toContain(typeof outcome(`"${text}" in groups`))
    }),
    { numRuns: 1000 },
  )
})

it('answers random valid expressions with true, false or an ExpressionError', () => {
  const { tree } = fc.letrec<{ tree: string; leaf: string }>((tie) => ({
    leaf: fc.constantFrom(
      'groups',
      '#',
      '"a"',
      '1',
      '1.5',
      'true',
      'nil',
      '[]',
      '{}',
      '{a: 1}.a',
      '1..3',
    ),
    tree: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('leaf'),
      fc
        .tuple(
          tie('tree'),
          fc.constantFrom('&&', '||', '==', 'in', '+', '??', '<', 'matches', '%', '**'),
          tie('tree'),
        )
        .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
      fc
        .tuple(
          fc.constantFrom('any', 'map', 'filter', 'reduce', 'sortBy', 'count', 'findLast'),
          tie('tree'),
          tie('tree'),
        )
        .map(([name, list, body]) => `${name}(${list}, ${body})`),
      fc
        .tuple(fc.constantFrom('len', 'sort', 'string', 'flatten', 'first', 'max'), tie('tree'))
        .map(([name, arg]) => `${name}(${arg})`),
      fc.tuple(tie('tree'), tie('tree')).map(([list, index]) => `${list}[${index}]`),
    ),
  }))
  fc.assert(
    fc.property(tree, fc.array(fc.string()), (source, groups) => {
      expect(['boolean', 'string']).toContain(
        typeof outcome(`string(any(groups, ${source})) == "true"`, groups),
      )
      expect(['boolean', 'string']).toContain(typeof outcome(source, groups))
    }),
    { numRuns: 3000 },
  )
})
