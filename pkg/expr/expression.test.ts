import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { ExpressionError } from './expr.ts'
import { compileExpression } from './expression.fixture.ts'

interface Vector {
  expr: string
  /** null is a list that Go never allocated; here it is an empty one. */
  groups: string[] | null
  expect: true | false | 'compile-error' | 'runtime-error'
  why: string
  tag: string
  /** 1 must and 2 should behave like the reference; 3 may be refused when it is compiled. */
  tier: 1 | 2 | 3
}

const file = new URL('testdata/exprlang.json', import.meta.url)
const vectors = (JSON.parse(readFileSync(file, 'utf8')) as Vector[]).filter(
  // The two that tell such a list from an empty one.
  ({ groups, tier }) => groups !== null || tier < 3,
)

function outcome(source: string, groups: readonly string[]): Vector['expect'] {
  let failure: Vector['expect'] = 'compile-error'
  try {
    const expression = compileExpression(source)
    failure = 'runtime-error'
    return expression(groups)
  } catch (thrown) {
    if (!(thrown instanceof ExpressionError)) throw thrown
    return failure
  }
}

it.each(vectors.map((vector, index) => ({ ...vector, index, title: vector.expr.slice(0, 100) })))(
  'vector $index: $title ($why)',
  ({ expr, groups, expect: expected, tier }) => {
    const allowed = tier === 3 ? [expected, 'compile-error'] : [expected]
    expect(allowed).toContain(outcome(expr, groups ?? []))
  },
)

// More answers of github.com/expr-lang/expr v1.17.8, by what they are about.
type Row = [source: string, groups: string[], expected: Vector['expect']]
describe('a choice with an element of a map has the type of the other branch', () => {
  it.each<Row>([
    ['(true ? "a" : {b: 1}.b) && true', [], 'compile-error'],
    ['({b: 1}.b ?? "a") && true', [], 'runtime-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('the last item of one kind determines the element type', () => {
  it.each<Row>([
    ['[groups, [1]][0][0] == "a"', ['a'], 'compile-error'],
    ['[groups, [1]][0][0] == 1', ['a'], 'runtime-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a count that is compared with one stops at the first match', () => {
  it.each<Row>([
    ['count(groups, split(#, ":")[1] == "x") > 0', ['a:x', 'b'], true],
    ['len(filter(groups, split(#, ":")[1] == "x")) >= 1', ['a:x', 'b'], true],
    ['count(groups, split(#, ":")[1] == "x") >= 2', ['a:x', 'b:x', 'c'], true],
    ['count(groups, split(#, ":")[1] == "x") == 1', ['a:x', 'b'], 'runtime-error'],
    ['0 < count(groups, split(#, ":")[1] == "x")', ['a:x', 'b'], 'runtime-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a byte of a string', () => {
  it.each<Row>([
    ['(split("", "", 0) ?? "ab")[0] == 97', [], true],
    ['map(split("", "", 0) ?? "ab", # + 1) == [98, 99] and type("a") == "string"', [], true],
    ['type(first(split("", "", 0) ?? "ab")) == "int"', [], 'runtime-error'],
    ['type(get(split("", "", 0) ?? "ab", 0)) != "int"', [], 'runtime-error'],
    ['type(len("x") ?? 0) == type(reduce(split("", "", 0) ?? "a", 1))', [], 'runtime-error'],
    ['not (len(groups) == reduce(first(groups) ?? groups, 1))', ['x'], 'runtime-error'],
    ['type(len(groups)) == "int"', ['a'], true],
  ])('is a number of unknown type: %s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('an element of a filtered list is searched for', () => {
  it.each<Row>([
    ['filter(groups, split(#, ":")[1] == "x")[0] == "a:x"', ['a:x', 'b'], true],
    ['first(filter(groups, split(#, ":")[1] == "x")) == "a:x"', ['a:x', 'b'], true],
    ['last(filter(groups, split(#, ":")[1] == "x")) == "b:x"', ['a', 'b:x'], true],
    ['filter(groups, split(#, ":")[1] == "x")[-1] == "b:x"', ['a', 'b:x'], true],
    ['filter(groups, split(#, ":")[1] == "x")[1] == "b:x"', ['a', 'b:x'], 'runtime-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('calls over the same list are joined element by element', () => {
  it.each<Row>([
    ['all(groups, # != "b") && all(groups, split(#, ":")[1] == "x")', ['a:x', 'b'], false],
    ['none(groups, # == "a") && none(groups, split(#, ":")[1] == "x")', ['a', 'b'], false],
    ['any(groups, # == "b") or any(groups[:], groups[5] == "x")', ['a', 'b'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('nil is looked up as the empty value', () => {
  it.each<Row>([
    ['findIndex(groups, # == "z") not in [0, 1]', ['a'], false],
    ['find(groups, # == "z") in {"": 1}', ['a'], true],
    ['get([""], 9) in ["a", ""]', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('an int is compared with a literal range without a list', () => {
  it.each<Row>([
    ['findIndex(groups, # == "z") in 1..3', ['a'], 'runtime-error'],
    ['len(groups) in -5..100000000', ['a'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('floats are printed as in Go', () => {
  it.each<Row>([
    [
      'string(1e21) + string(0.0001) + string(-1.5) + string(100000.0) == "1e+210.0001-1.5100000"',
      [],
      true,
    ],
    ['string(1000000.0) == "1e+06"', [], true],
    ['string(-0.0) == "0"', [], false],
    ['string(0.1 + 0.2) == "0.30000000000000004"', [], true],
    ['string([1, nil, {b: 1.5, a: groups}]) == "[1 <nil> map[a:[x] b:1.5]]"', ['x'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a slice with nil bounds is not allowed', () => {
  it.each<Row>([['groups[:{}.x] == groups', ['a'], 'runtime-error']])(
    '%s for %j is %j',
    (source, groups, expected) => {
      expect(outcome(source, groups)).toBe(expected)
    },
  )
})

describe('numbers of both kinds are compared by value', () => {
  it.each<Row>([
    ['max(1, 2.5) == 2.5', [], true],
    ['[1, 2.0] == [1.0, 2]', [], true],
    ['1 in [1.0]', [], true],
    ['uniq([1, 1.0, "1"]) == [1, "1"]', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('ints wrap and do not become floats', () => {
  it.each<Row>([
    ['9223372036854775807 * 2 == -2', [], true],
    ['abs(-9223372036854775807 - 1) < 0', [], true],
    ['len(-9223372036854775807..9223372036854775807) == 0', [], true],
    ['-7 % 3 == -1 and 7 % -3 == 1', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('numbers are rounded half to the larger absolute value', () => {
  it.each<Row>([
    ['round(0.49999999999999994) == 0 and round(4503599627370497.5) == 4503599627370498', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('sorting is stable', () => {
  it.each<Row>([
    ['sortBy(["b2", "a1", "c1"], #[1:]) == ["a1", "c1", "b2"]', [], true],
    ['sortBy(groups, len(#), "desc")[0] == "ccc"', ['a', 'ccc', 'bb'], true],
    ['sort(["b", 1]) == []', [], 'runtime-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('parts of strings', () => {
  it.each<Row>([
    [
      'split("a,b,c", ",", 2) == ["a", "b,c"] and split("aé", "") == ["a", "é"] and split("", ",") == [""]',
      [],
      true,
    ],
    [
      'replace("aé", "", "-") == "-a-é-" and replace("aé", "", "-", 2) == "-a-é" and replace("aa", "a", "$&") == "$&$&"',
      [],
      true,
    ],
    [
      'trim("éaé", "é") == "a" and trim("\\u3000a\\u0085") == "a" and trimSuffix("a ") == "a"',
      [],
      true,
    ],
    ['indexOf("éa", "a") == 2 and lastIndexOf("éaéa", "a") == 5', [], true],
    ['upper("ᾳﬁ") == "ᾼﬁ" and lower("ΣΑΣ") == "σασ"', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('tokens that start like a number', () => {
  it.each<Row>([
    ['1..3 == [1, 2, 3] and 1. == 1 and 0x_f == 15', [], true],
    ['1 .. 3 == [1, 2, 3]', [], true],
    ['0x1F.5 == 1', [], 'compile-error'],
    ['1e == 1', [], 'compile-error'],
    ['.5.5 == 1', [], 'compile-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a name may follow # only directly', () => {
  it.each<Row>([
    ['any(groups, #in groups)', ['a'], 'compile-error'],
    ['any(groups, # in groups)', ['a'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('braces after a comma open a block', () => {
  it.each<Row>([
    ['any(groups, {}.y)', ['a'], 'compile-error'],
    ['len(map(groups, {{a: #}})) == 1', ['a'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a search from the end', () => {
  it.each<Row>([
    [
      'findLast(groups, # != "c") == "b" and findLastIndex(groups, # == "a") == 0',
      ['a', 'b', 'c'],
      true,
    ],
    // Here the reference compares what its loop left on the stack.
    ['"b" == findLast(groups, # != "c")', ['a', 'b', 'c'], true],
    ['"b" == findLast(groups, # != "c")', ['a', 'c'], false],
    ['len(groups) - 1 == findLastIndex(groups, true)', ['a', 'b'], true],
    ['filter(groups, # == findLast(groups, true)) == ["b"]', ['a', 'b'], true],
    ['[findLast(groups, true), findLast(groups, true)] == ["b", "b"]', ['a', 'b'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('a nil list is nil, and an empty one is not', () => {
  it.each<Row>([
    ['concat(groups, groups) != nil', [], false],
    ['concat(groups, groups) != nil', ['a'], true],
    ['concat(groups[:0]) == nil', ['a'], true],
    ['split("a", ",", 0) == nil', [], true],
    ['split("", ",") == nil', [], false],
    ['groups == nil', [], false],
    ['filter(groups, false) == nil', ['a'], false],
    ['concat(groups)[:1] == nil', [], true],
    ['(concat(groups) ?? ["a"]) == ["a"]', [], true],
    ['concat(groups)?.[0] == nil', [], true],
    ['nil in [concat(groups)]', [], true],
    ['concat(groups) contains "a"', [], 'compile-error'],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('an empty list keeps its element type', () => {
  it.each<Row>([
    ['join(1..0) == ""', [], 'runtime-error'],
    ['join((1..3)[:0]) == ""', [], 'runtime-error'],
    ['join([1][:0]) == ""', [], true],
    ['groups == 1..0', [], false],
    ['groups == []', [], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

describe('groupBy', () => {
  it.each<Row>([
    ['groupBy(groups, split(#, ":")[0]).dev == ["dev:a", "dev:b"]', ['dev:a', 'dev:b', 'x'], true],
    ['"ops" in groupBy(groups, split(#, ":")[0])', ['ops:a'], true],
    ['"ops" in groupBy(groups, split(#, ":")[0])', ['dev:a'], false],
    ['len(groupBy(groups, len(#))[2]) == 2', ['ab', 'cd', 'e'], true],
    ['groupBy(groups, #).x == nil', ['a'], true],
    ['groupBy(groups, #).__proto__ == nil', ['a'], true],
    ['groupBy(groups, [#]) != nil', ['a'], 'runtime-error'],
    ['groupBy(groups, [#]) != nil', [], true],
    ['groupBy(groups, #) == {}', [], 'compile-error'],
    ['string(groupBy(groups, # == "a")) == "map[false:[b] true:[a]]"', ['a', 'b'], true],
  ])('%s for %j is %j', (source, groups, expected) => {
    expect(outcome(source, groups)).toBe(expected)
  })
})

it('gives the same results as the reference for random rules', () => {
  const random = JSON.parse(
    readFileSync(new URL('testdata/random.json', import.meta.url), 'utf8'),
  ) as Pick<Vector, 'expr' | 'groups' | 'expect'>[]
  expect(random.length).toBeGreaterThan(3000)
  const isError = (answer: Vector['expect']) => answer !== true && answer !== false
  const different = random.filter(({ expr, groups, expect: expected }) => {
    const answer = outcome(expr, groups ?? [])
    return answer !== expected && !(isError(answer) && isError(expected))
  })
  expect(different).toEqual([])
})
