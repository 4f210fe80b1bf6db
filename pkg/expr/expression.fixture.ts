import { compileRule, groupList, Run } from './expr.ts'

/** Compiles an expression for one list of groups at a time. @throws ExpressionError */
export function compileExpression(source: string): (groups: readonly string[]) => boolean {
  const rule = compileRule(source)
  return (groups) => rule(new Run(groupList(groups)))
}
