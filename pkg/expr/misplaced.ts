import { leftSpine, type Node } from './ast.ts'
import { predicates } from './builtin-names.ts'
import { Fault } from './expression-error.ts'

/**
 * Refuses a search from the end (`findLast`, `findLastIndex`, `last(filter(…))`, `filter(…)[-1]`) where something was
 * computed before it and is used after it, as in `"x" == findLast(…)`. The reference loses count of its stack there and
 * fails or answers at random; nobody can mean that.
 */
export function refuseMisplaced(root: Node): void {
  visit(root, true)
}

/** @param first nothing that is still needed was computed before the node */
function visit(node: Node, first: boolean): void {
  switch (node.kind) {
    case 'unary':
      return visit(node.operand, first)
    case 'binary': {
      const { first: operand, chain } = leftSpine(node)
      visit(operand, first)
      for (const { operator, right } of chain) {
        visit(right, first && (operator === '&&' || operator === '||' || operator === '??'))
      }
      return undefined
    }
    case 'comparison':
      return visitList(node.operands, first)
    case 'conditional':
      return visitAll([node.condition, node.consequent, node.alternate], first)
    case 'let':
      return visitAll([node.value, node.body], first)
    case 'sequence':
      return visitAll(node.nodes, first)
    case 'array':
      return visitList(node.items, first)
    case 'map':
      return visitList(
        node.pairs.flatMap(({ key, value }) => [key, value]),
        first,
      )
    case 'member':
      return visitList([node.object, node.property], first)
    case 'chain':
      return visit(node.inner, first)
    case 'slice':
      return visitList([node.object, node.from, node.to], first)
    case 'call':
      return visitCall(node.name, node.args, node.at, first)
    case 'closure':
      return visit(node.body, first)
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'string':
    case 'name':
    case 'pointer':
      return undefined
  }
}

function visitCall(name: string, args: readonly Node[], at: number, first: boolean): void {
  if (!first && (name === 'findLast' || name === 'findLastIndex')) {
    const message = 'a search from the end must be the first operand; compute it with let before'
    throw new Fault('Unsupported', at, message)
  }
  if (!predicates.has(name)) return visitList(args, first)
  // These two keep what they collect where the closure computes.
  const collects = name === 'map' || name === 'filter'
  for (const arg of args) visit(arg, first && !(collects && arg.kind === 'closure'))
  return undefined
}

function visitAll(nodes: readonly Node[], first: boolean): void {
  for (const node of nodes) visit(node, first)
}

/** Only the first of these is computed before all others. */
function visitList(nodes: readonly (Node | undefined)[], first: boolean): void {
  for (const [index, node] of nodes.entries()) {
    if (node !== undefined) visit(node, first && index === 0)
  }
}
