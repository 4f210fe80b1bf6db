/**
 * The expression language of GroupBindings and policies: expr-lang over one input, compiled to closures, with limits on source, nesting and
 * work. It imports nothing of the project.
 */

import { check, type Input } from './checker.ts'
import { compile } from './compiler.ts'
import { bindErrors, failAt } from './expression-error.ts'
import { optimize } from './optimizer.ts'
import { parse } from './parser.ts'
import type { Run } from './run.ts'
import { map, stringArray } from './static-type.ts'
import { described, typedList, type ValueMap } from './value.ts'

export { ExpressionError } from './expression-error.ts'
export { operandsOf } from './operands.ts'
export { Run } from './run.ts'

const groupsInput: Input = { name: 'groups', type: stringArray }

/** An input with fields: `upstream.version`. A field without a value is nil. */
export const recordInput = (name: string, fields: readonly string[]): Input => ({
  name,
  type: { ...map, fields },
})

/** The value of such an input. A number is a float. */
export const recordOf = (fields: Readonly<Record<string, string | number | undefined>>): ValueMap =>
  new Map(Object.entries(fields).map(([name, value]) => [name, value ?? null]))

/**
 * Whether the rule holds for the input of a run. The run counts the work.
 *
 * @throws ExpressionError EvaluationFailed or WorkExceeded
 */
export type Rule = (run: Run) => boolean

/**
 * Compiles an expression of the expr-lang language over an input, such as `"platform" in groups`.
 *
 * The language is that of Go's github.com/expr-lang/expr v1.17 without clocks, encodings and bit operations. Its limits are
 * 16 KiB of source, 10,000 nodes, about 200 levels of nesting, and one million steps and list elements in one evaluation.
 *
 * @throws ExpressionError with the place in the source
 */
export function compileRule(source: string, input: Input = groupsInput): Rule {
  const evaluate = bindErrors(source, 'TooLarge', () => {
    const root = parse(source.toWellFormed())
    const hints = check(root, input)
    const optimized = optimize(root, hints)
    const value = compile(optimized, hints)
    return (run: Run): boolean => {
      const result = value(run)
      // A rule does not hold if its result is nil, such as a missing key of a map.
      if (result === null) return false
      if (typeof result === 'boolean') return result
      return failAt(root.at, `the expression must be true or false, but it is ${described(result)}`)
    }
  })
  return (run) => bindErrors(source, 'WorkExceeded', () => evaluate(run))
}

/** Groups as expressions see them: a surrogate without its other half becomes U+FFFD, as in UTF-8. */
export function groupList(groups: readonly string[]): readonly string[] {
  return typedList(
    'string',
    groups.map((group) => group.toWellFormed()),
  )
}
