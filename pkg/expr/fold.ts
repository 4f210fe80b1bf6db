import { add, divide, modulo, multiply, negate, power, subtract } from './arithmetic.ts'
import type { Binary, Node } from './ast.ts'
import { Fault } from './expression-error.ts'
import { Run } from './run.ts'
import type { Value } from './value.ts'

/** Computes operators between literals, and `&&` and `||` with a literal on either side. */
export function fold(node: Node): Node {
  if (node.kind === 'unary') return foldUnary(node.operator, node.operand, node)
  if (node.kind === 'binary') return foldBinary(node)
  return foldFilter(node)
}

function foldUnary(operator: 'not' | '-' | '+', operand: Node, node: Node): Node {
  const { at } = node
  if (operator === 'not') {
    return operand.kind === 'bool' ? { kind: 'bool', at, value: !operand.value } : node
  }
  if (operand.kind !== 'int' && operand.kind !== 'float') return node
  return operator === '+' ? operand : literal(negate(operand.value, at), node)
}

const operations = new Map<string, typeof add>([
  ['+', add],
  ['-', subtract],
  ['*', multiply],
  ['/', divide],
  ['%', modulo],
  ['**', power],
])

function foldBinary(node: Binary): Node {
  const { operator, left, right, at } = node
  if (operator === '&&' || operator === '||') return foldLogic(node)
  if (operator === '==') return literal(equalLiterals(left, right), node)
  if (operator === '+' && left.kind === 'string' && right.kind === 'string') {
    return { kind: 'string', at, value: left.value + right.value }
  }
  if (operator === '%' && right.kind === 'int' && right.value === 0n && left.kind === 'int') {
    throw new Fault('TypeMismatch', at, 'integer divide by zero')
  }
  const operation = operations.get(operator)
  return operation === undefined ? node : foldNumbers(node, operation)
}

/** The other side no longer matters, even if it would fail. */
function foldLogic({ operator, left, right, at, ...node }: Binary): Node {
  const neutral = operator === '&&'
  if (left.kind === 'bool' && left.value === neutral) return right
  if (right.kind === 'bool' && right.value === neutral) return left
  if (left.kind === 'bool' || right.kind === 'bool') return { kind: 'bool', at, value: !neutral }
  return { ...node, operator, left, right, at }
}

function equalLiterals(left: Node, right: Node): boolean | undefined {
  if (left.kind === 'int' && right.kind === 'int') return left.value === right.value
  if (left.kind === 'string' && right.kind === 'string') return left.value === right.value
  if (left.kind === 'bool' && right.kind === 'bool') return left.value === right.value
  return undefined
}

function foldNumbers(node: Binary, operation: typeof add): Node {
  const { left, right, at } = node
  if (left.kind !== 'int' && left.kind !== 'float') return node
  if (right.kind !== 'int' && right.kind !== 'float') return node
  return literal(operation(left.value, right.value, new Run([]), at), node)
}

/** Joins two filters of a list into one. */
function foldFilter(node: Node): Node {
  if (node.kind !== 'call' || node.name !== 'filter') return node
  const [inner, closure] = node.args
  if (inner?.kind !== 'call' || inner.name !== 'filter' || closure?.kind !== 'closure') return node
  const [list, innerClosure] = inner.args
  if (list === undefined || innerClosure?.kind !== 'closure') return node
  const [left, right] = [innerClosure.body, closure.body]
  const body = foldLogic({ kind: 'binary', at: closure.at, operator: '&&', left, right })
  return { ...node, args: [list, { ...closure, body }] }
}

function literal(value: Value | undefined, node: Node): Node {
  const { at } = node
  if (typeof value === 'bigint') return { kind: 'int', at, value }
  if (typeof value === 'number') return { kind: 'float', at, value }
  return typeof value === 'boolean' ? { kind: 'bool', at, value } : node
}
