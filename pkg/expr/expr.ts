/**
 * The expression language of GroupBindings: expr-lang over `groups`, compiled to closures, with limits on source, nesting and
 * work. It imports nothing of the project.
 */

import { check } from './checker.ts'
import { compile } from './compiler.ts'
import { bindErrors, failAt } from './expression-error.ts'
import { optimize } from './optimizer.ts'
import { parse } from './parser.ts'
import type { Run } from './run.ts'
import { described, typedList } from './value.ts'

export { ExpressionError } from './expression-error.ts'
export { operandsOf } from './operands.ts'
export { Run } from './run.ts'

/**
 * Whether the rule holds for the groups of a run. The run counts the work.
 *
 * @throws ExpressionError EvaluationFailed or WorkExceeded
 */
export type Rule = (run: Run) => boolean

/**
 * Compiles an expression of the expr-lang language over `groups`, such as `"platform" in groups`.
 *
 * The language is that of Go's github.com/expr-lang/expr v1.17 without clocks, encodings and bit operations. Its limits are
 * 16 KiB of source, 10,000 nodes, about 200 levels of nesting, and one million steps and list elements in one evaluation.
 *
 * @throws ExpressionError with the place in the source
 */
export function compileRule(source: string): Rule {
  const evaluate = bindErrors(source, 'TooLarge', () => {
    const root = parse(source.toWellFormed())
    const hints = check(root)
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
