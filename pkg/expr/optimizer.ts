import type { Call, Comparison, Node } from './ast.ts'
import type { Hints } from './checker.ts'
import { fold } from './fold.ts'
import { rewrite } from './rewrite.ts'

/**
 * Applies the optimizations of the reference. They are not for speed here: a call that stops early and a part that is
 * dropped cannot fail, and failing rules decide who gets access.
 */
export function optimize(root: Node, hints: Hints): Node {
  const passes = [fold, (node: Node) => inRange(node, hints), filtered, combined, counted]
  return passes.reduce((node, rule) => rewrite(node, hints, rule), root)
}

/** `x in 1..9` creates no list. */
function inRange(node: Node, hints: Hints): Node {
  if (node.kind !== 'binary' || hints.get(node) !== 'intInList') return node
  const { at, left, right } = node
  if (right.kind !== 'binary' || right.operator !== '..') return node
  if (right.left.kind !== 'int' || right.right.kind !== 'int') return node
  const operands = [right.left, left, right.right]
  return { kind: 'comparison', at, operands, operators: ['<=', '<='] }
}

/** Elements that are taken from a filtered list are searched for instead. */
function filtered(node: Node): Node {
  if (node.kind === 'member') {
    const { object, property, optional } = node
    if (optional || property.kind !== 'int' || !isCall(object, 'filter')) return node
    if (property.value === 0n) return { ...object, name: 'find', throws: true }
    return property.value === -1n ? { ...object, name: 'findLast', throws: true } : node
  }
  const [list] = node.kind === 'call' ? node.args : []
  if (list === undefined || !isCall(list, 'filter')) return node
  if (isCall(node, 'len')) return { ...list, name: 'count' }
  if (isCall(node, 'first')) return { ...list, name: 'find' }
  return isCall(node, 'last') ? { ...list, name: 'findLast' } : node
}

/** `any(x, a) || any(x, b)` is `any(x, a || b)`: element by element. */
function combined(node: Node): Node {
  if (node.kind !== 'binary' || (node.operator !== '&&' && node.operator !== '||')) return node
  const { left, right, operator, at } = node
  if (left.kind !== 'call' || !isCall(right, left.name)) return node
  const [list, closure] = left.args
  const [otherList, otherClosure] = right.args
  if (closure?.kind !== 'closure' || otherClosure?.kind !== 'closure') return node
  const inner = innerOperator(left.name, operator)
  if (inner === undefined || list === undefined || !sameSource(list, otherList)) return node
  const body = combined({ ...node, operator: inner, left: closure.body, right: otherClosure.body })
  return { kind: 'call', at, name: left.name, args: [list, { ...closure, body }] }
}

function innerOperator(name: string, operator: '&&' | '||'): '&&' | '||' | undefined {
  if (name === 'all' && operator === '&&') return '&&'
  if (name === 'any' && operator === '||') return '||'
  return name === 'none' && operator === '&&' ? '||' : undefined
}

/** `count(x, a) > 2` stops at the third. */
function counted(node: Node): Node {
  if (node.kind !== 'comparison' || node.operators.length !== 1) return node
  const [call, limit] = node.operands
  if (call === undefined || !isCall(call, 'count') || call.args.length !== 2) return node
  if (limit?.kind !== 'int' || limit.value < 0n) return node
  const [operator] = node.operators
  const threshold = operator === '>' || operator === '<=' ? limit.value + 1n : limit.value
  const atLeast = operator === '>' || operator === '>='
  if (threshold === 1n && atLeast) return { ...call, name: 'any' }
  if (threshold <= 1n) return node
  return { ...node, operands: [{ ...call, threshold }, limit] } satisfies Comparison
}

function isCall(node: Node, name: string): node is Call {
  return node.kind === 'call' && node.name === name
}

/** Whether two nodes have the same source, wherever they are. */
function sameSource(left: Node, right: Node | undefined): boolean {
  const text = (node: Node | undefined) =>
    JSON.stringify(node, (key, value: unknown) => {
      if (key === 'at') return undefined
      return typeof value === 'bigint' ? `${value}n` : value
    })
  return text(left) === text(right)
}
