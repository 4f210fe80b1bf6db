import type { Binary, Call, Comparison, Node } from './ast.ts'
import { leftSpine } from './ast.ts'
import { builtinNames, predicates, refused } from './builtins.ts'
import { Fault } from './expression-error.ts'
import { resultOfBinary } from './operator-types.ts'
import { compilePattern } from './pattern.ts'
import { resultOfFunction } from './signatures.ts'
import type { StaticType } from './static-type.ts'
import * as T from './static-type.ts'

/**
 * How an operator works because of the static types of its operands: `==` between two strings or two ints does not take
 * nil, and a list of literals is looked up like a set.
 */
export type Hint = 'strings' | 'ints' | 'stringSet' | 'intSet' | 'intInList'
export type Hints = Map<Node, Hint>

interface Scope {
  readonly collection: StaticType
  readonly pointers: ReadonlyMap<string, StaticType>
}

/** The subject of an expression: its name, and the type of its value. */
export interface Input {
  readonly name: string
  readonly type: StaticType
}

/** Checks that an expression has a meaning and can be true or false. @throws Fault TypeMismatch, UnknownName or Unsupported */
export function check(root: Node, input: Input): Hints {
  const checker = new Checker(input)
  const type = checker.visit(root)
  if (type.kind !== 'bool' && !T.isUnknown(type)) {
    throw mismatch(root.at, `the expression must be true or false, but it is ${T.describe(type)}`)
  }
  return checker.hints
}

class Checker {
  readonly hints: Hints = new Map()
  readonly #variables: { name: string; type: StaticType }[] = []
  #scopes: Scope[] = []
  readonly #input: Input

  constructor(input: Input) {
    this.#input = input
  }

  visit(node: Node): StaticType {
    switch (node.kind) {
      case 'nil':
      case 'bool':
      case 'int':
      case 'float':
      case 'string':
        return { kind: node.kind }
      case 'name':
        return this.#name(node.name, node.at)
      case 'pointer':
        return this.#pointer(node.name, node.at)
      case 'unary':
        return this.#unary(node.operator, this.visit(node.operand), node.at)
      case 'binary':
        return this.#binary(node)
      case 'comparison':
        return this.#comparison(node)
      case 'conditional':
        return this.#conditional(node.condition, node.consequent, node.alternate)
      case 'let':
        return this.#let(node.name, node.value, node.body, node.at)
      case 'sequence':
        return node.nodes.map((part) => this.visit(part)).at(-1) ?? T.nil
      case 'array':
        return this.#array(node.items)
      case 'map':
        for (const { key, value } of node.pairs) {
          this.visit(key)
          this.visit(value)
        }
        return T.map
      case 'member':
        return this.#member(node.object, node.property, node.at)
      case 'chain':
        return this.visit(node.inner)
      case 'slice':
        return this.#slice(node.object, [node.from, node.to], node.at)
      case 'call':
        return predicates.has(node.name) ? this.#predicate(node) : this.#function(node)
      case 'closure':
        break
    }
    return this.visit(node.body)
  }

  #name(name: string, at: number): StaticType {
    const variable = this.#variables.findLast((visible) => visible.name === name)
    if (variable !== undefined) return variable.type
    if (name === this.#input.name) return this.#input.type
    if (name === '$env') {
      throw new Fault('Unsupported', at, `$env is not supported; write ${this.#input.name}`)
    }
    if (builtinNames.has(name) || refused.has(name)) {
      throw mismatch(at, `${name} is a function; write ${name}(…)`)
    }
    throw new Fault('UnknownName', at, `unknown name ${name}`)
  }

  #pointer(name: string, at: number): StaticType {
    const scope = this.#scopes.at(-1)
    if (scope === undefined) throw mismatch(at, '# has no meaning outside of a closure')
    if (name === '') {
      return scope.collection.kind === 'array' ? scope.collection.element : T.unknown
    }
    const type = scope.pointers.get(name)
    if (type === undefined) throw new Fault('UnknownName', at, `unknown pointer #${name}`)
    return type
  }

  #unary(operator: 'not' | '-' | '+', type: StaticType, at: number): StaticType {
    if (T.isUnknown(type)) return operator === 'not' ? T.bool : T.unknown
    if (operator === 'not' ? type.kind === 'bool' : T.isNumber(type)) return type
    const hint =
      operator === 'not' && type.kind === 'string' ? '; for a list, write x not in list' : ''
    throw mismatch(at, `${operator} does not take ${T.describe(type)}${hint}`)
  }

  #binary(node: Binary): StaticType {
    const { first, chain } = leftSpine(node)
    return chain.reduce((left, step) => {
      const right = this.visit(step.right)
      this.#hint(step, left, right)
      return resultOfBinary(step, left, right)
    }, this.visit(first))
  }

  #hint(node: Binary, left: StaticType, right: StaticType): void {
    if (node.operator === 'matches' && node.right.kind === 'string') {
      // A bad pattern is an error even if it is never used.
      compilePattern(node.right.value, node.right.at, 'InvalidPattern')
    }
    if (node.operator === '==' || node.operator === '!=') {
      if (left.kind === 'string' && right.kind === 'string') this.hints.set(node, 'strings')
      if (left.kind === 'int' && right.kind === 'int') this.hints.set(node, 'ints')
    }
    if (node.operator !== 'in') return
    const items = node.right.kind === 'array' ? node.right.items : []
    const all = (kind: Node['kind']) =>
      items.length > 0 && items.every((item) => item.kind === kind)
    if (all('string')) this.hints.set(node, 'stringSet')
    else if (left.kind === 'int') this.hints.set(node, all('int') ? 'intSet' : 'intInList')
  }

  #comparison({ operands, operators, at }: Comparison): StaticType {
    const types = operands.map((operand) => this.visit(operand))
    for (const [index, operator] of operators.entries()) {
      const left = types[index] ?? T.unknown
      const right = types[index + 1] ?? T.unknown
      const fits =
        (T.isNumber(left) && T.isNumber(right)) ||
        (left.kind === 'string' && right.kind === 'string') ||
        T.maybe(left, right, 'int', 'float', 'string')
      if (fits) continue
      throw mismatch(at, `${operator} does not take ${T.describe(left)} and ${T.describe(right)}`)
    }
    return T.bool
  }

  #conditional(condition: Node, consequent: Node, alternate: Node): StaticType {
    const type = this.visit(condition)
    if (type.kind !== 'bool' && !T.isUnknown(type)) {
      throw mismatch(condition.at, `a condition must be true or false, not ${T.describe(type)}`)
    }
    // In a ?: b the condition is also the first branch, and is checked already.
    return T.either(consequent === condition ? type : this.visit(consequent), this.visit(alternate))
  }

  #let(name: string, value: Node, body: Node, at: number): StaticType {
    const taken =
      name === this.#input.name ||
      name === '$env' ||
      builtinNames.has(name) ||
      refused.has(name) ||
      this.#variables.some((visible) => visible.name === name)
    if (taken) throw mismatch(at, `${name} is taken; choose another name`)
    this.#variables.push({ name, type: this.visit(value) })
    const type = this.visit(body)
    this.#variables.pop()
    return type
  }

  /** The element type is the last one's, if all are of one kind. */
  #array(items: readonly Node[]): StaticType {
    const types = items.map((item) => this.visit(item))
    const last = types.at(-1) ?? T.unknown
    const kindOf = ({ kind }: StaticType) => (kind === 'nil' ? 'unknown' : kind)
    return types.every((type) => kindOf(type) === kindOf(last)) ? T.arrayOf(last) : T.anyArray
  }

  #member(object: Node, property: Node, at: number): StaticType {
    const base = this.visit(object)
    const key = this.visit(property)
    if (T.isUnknown(base)) return T.unknown
    if (base.kind === 'map') {
      if (base.grouped) return T.anyArray
      if (property.kind === 'string' && base.fields?.includes(property.value) === false) {
        const fields = base.fields.join(', ')
        const message = `there is no field ${property.value}; the fields are ${fields}`
        throw new Fault('UnknownName', property.at, message)
      }
      if (T.isUnknown(key) || key.kind === 'string') return T.any
      throw mismatch(property.at, `the keys of a map are strings, not ${T.describe(key)}`)
    }
    if (base.kind === 'array') {
      if (T.isUnknown(key) || key.kind === 'int') return base.element
      const message = `an element of a list is chosen by an int, not by ${T.describe(key)}`
      throw mismatch(property.at, message)
    }
    const what = property.kind === 'string' ? `no field ${property.value}` : 'no elements'
    throw mismatch(at, `${T.describe(base)} has ${what}`)
  }

  #slice(object: Node, bounds: readonly (Node | undefined)[], at: number): StaticType {
    const type = this.visit(object)
    if (T.isUnknown(type)) {
      // The bounds may have any type here, but must be valid expressions.
      for (const bound of bounds) if (bound !== undefined) this.visit(bound)
      return type
    }
    if (type.kind !== 'array' && type.kind !== 'string') {
      throw mismatch(at, `${T.describe(type)} cannot be sliced`)
    }
    for (const bound of bounds) {
      const boundType = bound === undefined ? T.int : this.visit(bound)
      if (!T.isUnknown(boundType) && boundType.kind !== 'int') {
        throw mismatch(at, `a bound of a slice is an int, not ${T.describe(boundType)}`)
      }
    }
    return type
  }

  #function({ name, args, at }: Call): StaticType {
    return resultOfFunction(
      name,
      args.map((arg) => this.visit(arg)),
      at,
    )
  }

  #predicate({ name, args, at }: Call): StaticType {
    const [collectionNode, closure, extra] = args
    if (collectionNode === undefined) throw mismatch(at, `${name} needs a list`)
    const collection = this.visit(collectionNode)
    if (!T.isUnknown(collection) && collection.kind !== 'array') {
      throw mismatch(collectionNode.at, `${name} takes a list, not ${T.describe(collection)}`)
    }
    const element = collection.kind === 'array' ? collection.element : T.unknown
    const result = closure === undefined ? undefined : this.#closure(name, collection, closure)
    if (extra !== undefined) this.#outsideClosures(name, extra)
    switch (name) {
      case 'all':
      case 'any':
      case 'none':
      case 'one':
        return T.bool
      case 'count':
      case 'findIndex':
      case 'findLastIndex':
        return T.int
      case 'filter':
        return collection.kind === 'array' ? T.arrayOf(element) : T.anyArray
      case 'map':
        return T.arrayOf(result ?? T.unknown)
      case 'sum':
        return result === undefined ? element : T.erased(result)
      case 'reduce':
        return result ?? T.unknown
      case 'groupBy':
        return T.grouped
      case 'sortBy':
        return collection
      default:
        return element
    }
  }

  #closure(name: string, collection: StaticType, closure: Node): StaticType {
    const pointers = new Map<string, StaticType>()
    if (name === 'map' || name === 'reduce') pointers.set('index', T.int)
    if (name === 'reduce') pointers.set('acc', T.unknown)
    this.#scopes.push({ collection, pointers })
    const type = this.visit(closure)
    this.#scopes.pop()
    if (type.kind === 'nil') throw mismatch(closure.at, `the closure of ${name} is nil`)
    const free = ['map', 'sum', 'reduce', 'sortBy', 'groupBy'].includes(name)
    if (!free && type.kind !== 'bool' && !T.isUnknown(type)) {
      const message = `the closure of ${name} must be true or false, not ${T.describe(type)}`
      throw mismatch(closure.at, message)
    }
    return type
  }

  /** The order of sortBy and the start of reduce. The meaning of `#` would be unclear there, so it has none. */
  #outsideClosures(name: string, node: Node): void {
    const scopes = this.#scopes
    this.#scopes = []
    const type = this.visit(node)
    this.#scopes = scopes
    if (name === 'sortBy' && type.kind !== 'string' && !T.isUnknown(type)) {
      throw mismatch(node.at, `the order of sortBy is a string, not ${T.describe(type)}`)
    }
  }
}

function mismatch(at: number, message: string): Fault {
  return new Fault('TypeMismatch', at, message)
}
