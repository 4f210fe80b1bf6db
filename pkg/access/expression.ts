import { check } from './checker.ts'
import { compile } from './compiler.ts'
import { bindErrors, failAt } from './expression-error.ts'
import { refuseMisplaced } from './misplaced.ts'
import { optimize } from './optimizer.ts'
import { parse } from './parser.ts'
import { Run } from './run.ts'
import { typeName } from './value.ts'

/** Whether a caller with these groups is meant. @throws ExpressionError EvaluationFailed or WorkExceeded */
export type Expression = (groups: readonly string[]) => boolean

/**
 * Compiles an expression of the expr-lang language over `groups`, such as `"platform" in groups`.
 *
 * The language is that of Go's github.com/expr-lang/expr v1.17 without clocks, encodings and bit operations. What it
 * can cost is bounded: 16 KiB of source, 10,000 nodes, about 200 levels of nesting, and per evaluation one million steps
 * and list elements.
 *
 * @throws ExpressionError with the place in the source, where the expression does not compile
 */
export function compileExpression(source: string): Expression {
  const evaluate = bindErrors(source, 'TooLarge', () => {
    const root = parse(source.toWellFormed())
    const hints = check(root)
    const optimized = optimize(root, hints)
    refuseMisplaced(optimized)
    const value = compile(optimized, hints)
    return (run: Run): boolean => {
      const result = value(run)
      // A rule that comes out as nil, such as a key that a map does not have, does not hold.
      if (result === null) return false
      if (typeof result === 'boolean') return result
      return failAt(
        root.at,
        `the expression must be true or false, but it is a ${typeName(result)}`,
      )
    }
  })
  return (groups) => {
    const run = new Run(groups.map((group) => group.toWellFormed()))
    return bindErrors(source, 'WorkExceeded', () => evaluate(run))
  }
}
