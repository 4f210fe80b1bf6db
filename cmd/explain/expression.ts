import type { ExplainCommandOptions } from '../../pkg/base/options/options.ts'
import { compileRule, ExpressionError, groupList, operandsOf, Run } from '../../pkg/expr/expr.ts'

/** A part of a rule, its result, and which of its parts decided. */
interface Part {
  readonly expression: string
  readonly result: string
  /** The parts that `or` or `and` joins; absent if there is one. */
  readonly parts?: readonly Part[] | undefined
}

/** Explains the result of each part of an expression for some groups. */
export function explainExpression(
  { groups, output }: ExplainCommandOptions,
  expression: string,
): string {
  const part = partOf(expression, groups)
  if (output === 'json') return `${JSON.stringify({ groups, ...part }, null, 2)}\n`
  return `${linesOf(part, '').join('\n')}\n`
}

function partOf(expression: string, groups: readonly string[]): Part {
  const result = resultOf(expression, groups)
  if (result instanceof ExpressionError) return { expression, result: result.message }
  const parts = operandsOf(expression)?.map((operand) => partOf(operand, groups))
  return { expression, result: String(result), parts }
}

function resultOf(expression: string, groups: readonly string[]): boolean | ExpressionError {
  try {
    return compileRule(expression)(new Run(groupList(groups)))
  } catch (error) {
    if (error instanceof ExpressionError) return error
    throw error
  }
}

function linesOf({ expression, result, parts = [] }: Part, indent: string): string[] {
  const own = `${indent}${result.replaceAll('\n', `\n${indent}`)}: ${expression}`
  return [own, ...parts.flatMap((part) => linesOf(part, `${indent}  `))]
}
