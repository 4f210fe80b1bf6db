import { negate } from './arithmetic.ts'
import type { Binary, Call, Comparison, Node, Slice } from './ast.ts'
import { leftSpine } from './ast.ts'
import { functions, predicates } from './builtins.ts'
import type { Hints } from './checker.ts'
import { compileLoop } from './loops.ts'
import { compileStep } from './operators.ts'
import type { Evaluate } from './run.ts'
import { slice } from './slice.ts'
import { compare, fetch, isNil, noList, noStrings, toBool, toText, type Value } from './value.ts'

/** The values that stand for a skipped chain of `?.` once its base is nil, by that base. */
const skipped = new Map<Value, Value>([null, noList, noStrings].map((base) => [base, new Map()]))
const skippedBase = new Map(Array.from(skipped, ([base, skip]) => [skip, base]))

/** Turns a checked expression into closures. @throws Fault InvalidPattern */
export function compile(root: Node, hints: Hints): Evaluate {
  return new Compiler(hints).compile(root)
}

class Compiler {
  readonly #hints: Hints
  /** The visible variables, with their slots in a run. */
  readonly #visible: { name: string; slot: number }[] = []
  #slots = 0

  constructor(hints: Hints) {
    this.#hints = hints
  }

  compile(node: Node): Evaluate {
    switch (node.kind) {
      case 'nil':
        return () => null
      case 'bool':
      case 'int':
      case 'float':
      case 'string': {
        const { value } = node
        return () => value
      }
      case 'name':
        return this.#name(node.name)
      case 'pointer':
        return pointer(node.name)
      case 'unary':
        return this.#unary(node.operator, node.operand, node.at)
      case 'binary':
        return this.#binary(node)
      case 'comparison':
        return this.#comparison(node)
      case 'conditional':
        return this.#conditional(node.condition, node.consequent, node.alternate)
      case 'let':
        return this.#let(node.name, node.value, node.body)
      case 'sequence':
        return this.#sequence(node.nodes)
      case 'array':
        return this.#array(node.items, node.at)
      case 'map':
        return this.#map(node.pairs, node.at)
      case 'member':
        return this.#member(node.object, node.property, node.optional, node.at)
      case 'chain':
        return this.#chain(node.inner)
      case 'slice':
        return this.#slice(node)
      case 'call':
        return this.#call(node)
      case 'closure':
        break
    }
    return this.compile(node.body)
  }

  #name(name: string): Evaluate {
    const variable = this.#visible.findLast((visible) => visible.name === name)
    if (variable === undefined) return (run) => run.input
    const { slot } = variable
    return (run) => run.variables[slot] ?? null
  }

  #unary(operator: 'not' | '-' | '+', operandNode: Node, at: number): Evaluate {
    const operand = this.compile(operandNode)
    if (operator === 'not') return (run) => !toBool(operand(run), at)
    return operator === '-' ? (run) => negate(operand(run), at) : operand
  }

  #binary(node: Binary): Evaluate {
    const { first, chain } = leftSpine(node)
    const start = this.compile(first)
    const steps = chain.map((binary) =>
      compileStep(binary, this.#hints.get(binary), this.#right(binary)),
    )
    const [only] = steps
    if (only !== undefined && steps.length === 1) return (run) => only(start(run), run)
    return (run) => {
      let value = start(run)
      for (const step of steps) value = step(value, run)
      return value
    }
  }

  /** A nil list at the end of a chain becomes nil, but not to the right of `??`. */
  #right({ operator, right }: Binary): Evaluate {
    if (operator !== '??' || right.kind !== 'chain') return this.compile(right)
    const inner = this.compile(right.inner)
    return (run) => {
      const value = inner(run)
      return skippedBase.has(value) ? (skippedBase.get(value) ?? null) : value
    }
  }

  #comparison({ operands: nodes, operators, at }: Comparison): Evaluate {
    const holds = operators.map((operator) => orders[operator])
    const [first, ...others] = nodes.map((operand) => this.compile(operand))
    return (run) => {
      let left = first?.(run) ?? null
      for (const [index, operand] of others.entries()) {
        const right = operand(run)
        if (!holds[index]?.(compare(left, right, run, at))) return false
        left = right
      }
      return true
    }
  }

  #conditional(conditionNode: Node, consequentNode: Node, alternateNode: Node): Evaluate {
    const condition = this.compile(conditionNode)
    const { at } = conditionNode
    // In a ?: b the condition is also the first branch. It is true there, and does not run again.
    const consequent = consequentNode === conditionNode ? () => true : this.compile(consequentNode)
    const alternate = this.compile(alternateNode)
    return (run) => (toBool(condition(run), at) ? consequent(run) : alternate(run))
  }

  #let(name: string, valueNode: Node, bodyNode: Node): Evaluate {
    const value = this.compile(valueNode)
    const slot = this.#slots
    this.#slots += 1
    this.#visible.push({ name, slot })
    const body = this.compile(bodyNode)
    this.#visible.pop()
    return (run) => {
      run.variables[slot] = value(run)
      return body(run)
    }
  }

  #sequence(nodes: readonly Node[]): Evaluate {
    const parts = nodes.map((part) => this.compile(part))
    return (run) => {
      let value: Value = null
      for (const part of parts) value = part(run)
      return value
    }
  }

  #array(nodes: readonly Node[], at: number): Evaluate {
    const items = nodes.map((item) => this.compile(item))
    return (run) => {
      run.grow(items.length, at)
      return items.map((item) => item(run))
    }
  }

  /** The first of equal keys wins. */
  #map(nodes: readonly { key: Node; value: Node }[], at: number): Evaluate {
    const pairs = nodes.map(({ key, value }) => ({
      key: this.compile(key),
      value: this.compile(value),
      at: key.at,
    }))
    return (run) => {
      run.grow(pairs.length, at)
      const entries = pairs.map((pair) => [pair.key(run), pair.value(run), pair.at] as const)
      const map = new Map<string, Value>()
      for (const [key, value, keyAt] of entries.toReversed()) map.set(toText(key, keyAt), value)
      return map
    }
  }

  #member(objectNode: Node, propertyNode: Node, optional: boolean, at: number): Evaluate {
    const object = this.compile(objectNode)
    const property = this.compile(propertyNode)
    return (run) => {
      const base = object(run)
      if (skippedBase.has(base)) return base
      if (optional && isNil(base)) return skipped.get(base) ?? null
      return fetch(base, property(run), at, run)
    }
  }

  #chain(innerNode: Node): Evaluate {
    const inner = this.compile(innerNode)
    return (run) => {
      const value = inner(run)
      return skippedBase.has(value) || isNil(value) ? null : value
    }
  }

  #slice(node: Slice): Evaluate {
    const object = this.compile(node.object)
    const from = node.from && this.compile(node.from)
    const to = node.to && this.compile(node.to)
    const { at } = node
    return (run) => slice(object(run), { from: from?.(run), to: to?.(run) }, run, at)
  }

  #call(node: Call): Evaluate {
    const args = node.args.map((arg) => this.compile(arg))
    const { name, at } = node
    const call = functions.get(name)
    if (predicates.has(name) || call === undefined) return compileLoop(node, args)
    return (run) =>
      call(
        args.map((arg) => arg(run)),
        run,
        at,
      )
  }
}

const orders = {
  '<': (order: number) => order < 0,
  '>': (order: number) => order > 0,
  '<=': (order: number) => order <= 0,
  '>=': (order: number) => order >= 0,
}

function pointer(name: string): Evaluate {
  if (name === 'index') return (run) => run.scope.index
  return name === 'acc' ? (run) => run.scope.acc : (run) => run.scope.item
}
