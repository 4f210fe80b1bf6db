import { type Binary, leftSpine, type Node } from './ast.ts'
import type { Hints } from './checker.ts'

/**
 * Rebuilds a tree from its leaves up, and applies a rule to every node after its children.
 *
 * @param rule returns the same node if it changes nothing
 */
export function rewrite(root: Node, hints: Hints, rule: (node: Node) => Node): Node {
  /** A rebuilt operator keeps the hint of the old one. */
  const keep = (old: Node, fresh: Node): Node => {
    const hint = hints.get(old)
    if (hint !== undefined) hints.set(fresh, hint)
    return rule(fresh)
  }
  const visit = (node: Node): Node =>
    node.kind === 'binary' ? visitSpine(node) : keep(node, withChildren(node, visit))
  const visitSpine = (node: Binary): Node => {
    const { first, chain } = leftSpine(node)
    let left = visit(first)
    for (const step of chain) left = keep(step, { ...step, left, right: visit(step.right) })
    return left
  }
  return visit(root)
}

function withChildren(node: Node, visit: (child: Node) => Node): Node {
  switch (node.kind) {
    case 'unary':
      return { ...node, operand: visit(node.operand) }
    case 'comparison':
      return { ...node, operands: node.operands.map(visit) }
    case 'conditional': {
      const condition = visit(node.condition)
      const consequent = node.consequent === node.condition ? condition : visit(node.consequent)
      return { ...node, condition, consequent, alternate: visit(node.alternate) }
    }
    case 'let':
      return { ...node, value: visit(node.value), body: visit(node.body) }
    case 'sequence':
      return { ...node, nodes: node.nodes.map(visit) }
    case 'array':
      return { ...node, items: node.items.map(visit) }
    case 'map': {
      const pairs = node.pairs.map(({ key, value }) => ({ key: visit(key), value: visit(value) }))
      return { ...node, pairs }
    }
    case 'member':
      return { ...node, object: visit(node.object), property: visit(node.property) }
    case 'chain':
      return { ...node, inner: visit(node.inner) }
    case 'slice': {
      const [from, to] = [node.from && visit(node.from), node.to && visit(node.to)]
      return { ...node, object: visit(node.object), from, to }
    }
    case 'call':
      return { ...node, args: node.args.map(visit) }
    case 'closure':
      return { ...node, body: visit(node.body) }
    case 'nil':
    case 'bool':
    case 'int':
    case 'float':
    case 'string':
    case 'name':
    case 'pointer':
    case 'binary':
      break
  }
  return node
}
