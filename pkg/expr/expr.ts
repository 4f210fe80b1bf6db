/**
 * The expression language of GroupBindings: expr-lang over `groups`, compiled to closures, with bounds on source,
 * nesting and work. It stands on nothing of the project.
 */

import { check } from './checker.ts'
import { compile } from './compiler.ts'
import { bindErrors, failAt } from './expression-error.ts'
import { optimize } from './optimizer.ts'
import { parse } from './parser.ts'
import type { Run } from './run.ts'
import { described, typedList } from './value.ts'

export { ExpressionError } from './expression-error.ts'
export { Run } from './run.ts'
export { compareCodePoints } from './text.ts'

/**
 * Whether a caller with the groups of a run is meant. It leaves it to its caller to count what it costs.
 *
 * @throws ExpressionError EvaluationFailed or WorkExceeded
 */
export type Rule = (run: Run) => boolean

/**
 * Compiles an expression of the expr-lang language over `groups`, such as `"platform" in groups`.
 *
 * The language is that of Go's github.com/expr-lang/expr v1.17 without clocks, encodings and bit operations. What it
 * can cost is bounded: 16 KiB of source, 10,000 nodes, about 200 levels of nesting, and per evaluation one million steps
 * and one million list elements.
 *
 * @throws ExpressionError with the place in the source, where the expression does not compile
 */
export function compileRule(source: string): Rule {
  const evaluate = bindErrors(source, 'TooLarge', () => {
    const root = parse(source.toWellFormed())
    const hints = check(root)
    const optimized = optimize(root, hints)
    const value = compile(optimized, hints)
    return (run: Run): boolean => {
      const result = value(run)
      // A rule that comes out as nil, such as a key that a map does not have, does not hold.
      if (result === null) return false
      if (typeof result === 'boolean') return result
      return failAt(root.at, `the expression must be true or false, but it is ${described(result)}`)
    }
  })
  return (run) => bindErrors(source, 'WorkExceeded', () => evaluate(run))
}

/** Groups as an expression sees them: a surrogate without its other half becomes U+FFFD, as in UTF-8. */
export function listOf(groups: readonly string[]): readonly string[] {
  return typedList(
    'string',
    groups.map((group) => group.toWellFormed()),
  )
}
