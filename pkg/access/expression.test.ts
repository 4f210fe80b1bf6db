import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { compileExpression } from './expression.ts'
import { ExpressionError } from './expression-error.ts'

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
