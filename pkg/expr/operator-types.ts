import type { Binary } from './ast.ts'
import { Fault } from './expression-error.ts'
import type { StaticType } from './static-type.ts'
import * as T from './static-type.ts'

/** The result type of an operator. @throws Fault TypeMismatch if it does not take the operands */
export function resultOfBinary(node: Binary, left: StaticType, right: StaticType): StaticType {
  const type = resultOf(node.operator, left, right)
  if (type !== undefined) return type
  const operands = `${T.describe(left)} and ${T.describe(right)}`
  const hint = hintFor(node, left, right)
  throw new Fault('TypeMismatch', node.at, `${node.operator} does not take ${operands}${hint}`)
}

function resultOf(
  operator: Binary['operator'],
  left: StaticType,
  right: StaticType,
): StaticType | undefined {
  const both = (kind: StaticType['kind']) => left.kind === kind && right.kind === kind
  const numbers = T.isNumber(left) && T.isNumber(right)
  const number = both('int') ? T.int : T.float
  const maybeNumbers = T.maybe(left, right, 'int', 'float')
  switch (operator) {
    case '==':
    case '!=':
      return T.comparable(left, right) ? T.bool : undefined
    case '&&':
    case '||':
      return both('bool') || T.maybe(left, right, 'bool') ? T.bool : undefined
    case 'in':
      return contains(left, right) ? T.bool : undefined
    case 'matches':
    case 'contains':
    case 'startsWith':
    case 'endsWith':
      return both('string') || T.maybe(left, right, 'string') ? T.bool : undefined
    case '+':
      if (both('string')) return T.string
      if (numbers) return number
      return T.maybe(left, right, 'int', 'float', 'string') ? T.unknown : undefined
    case '-':
    case '*':
      if (numbers) return number
      return maybeNumbers ? T.unknown : undefined
    case '/':
    case '**':
      return numbers || maybeNumbers ? T.float : undefined
    case '%':
      return both('int') || T.maybe(left, right, 'int') ? T.int : undefined
    case '..':
      return both('int') || T.maybe(left, right, 'int') ? T.arrayOf(T.int) : undefined
    case '??':
      break
  }
  if (left.kind === 'nil') return right
  return right.kind === 'nil' || T.assignable(right, left) ? left : T.unknown
}

function contains(needle: StaticType, container: StaticType): boolean {
  if (container.kind === 'array') return T.comparable(needle, container.element)
  if (container.kind === 'map') {
    return container.grouped || T.isUnknown(needle) || needle.kind === 'string'
  }
  return T.isUnknown(container) || (container.kind === 'string' && T.isUnknown(needle))
}

/** Hints for the most frequent mistakes. */
function hintFor({ operator }: Binary, left: StaticType, right: StaticType): string {
  if (operator === 'in' && right.kind === 'string') return '; for a part of a string, use contains'
  if (operator === 'contains' && left.kind === 'array') return '; for a list, use in'
  return ''
}
