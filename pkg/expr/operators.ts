import { add, divide, modulo, multiply, power, range, subtract } from './arithmetic.ts'
import type { Binary } from './ast.ts'
import type { Hint } from './checker.ts'
import { failAt } from './expression-error.ts'
import { compileComputed, compilePattern } from './pattern.ts'
import type { Evaluate, Run } from './run.ts'
import {
  described,
  equal,
  inMap,
  isList,
  isMap,
  isNil,
  isNumeric,
  toBool,
  toText,
  type Value,
} from './value.ts'

/** An operator with its right operand, applied to a left one. */
export type Step = (left: Value, run: Run) => Value

export function compileStep(node: Binary, hint: Hint | undefined, right: Evaluate): Step {
  const { at } = node
  const eager =
    (operation: (left: Value, right: Value, run: Run, at: number) => Value): Step =>
    (left, run) =>
      operation(left, right(run), run, at)

  switch (node.operator) {
    case '&&':
      return (left, run) => (toBool(left, at) ? right(run) : false)
    case '||':
      return (left, run) => (toBool(left, at) ? true : right(run))
    case '??':
      return (left, run) => (isNil(left) ? right(run) : left)
    case '==':
      return eager(equality(hint))
    case '!=': {
      const same = equality(hint)
      return (left, run) => !same(left, right(run), run, at)
    }
    case 'in':
      return hint === 'stringSet' || hint === 'intSet' ? inSet(node, hint) : eager(isIn)
    case 'matches':
      return compileMatches(node, right)
    case 'contains':
      return eager(ofTexts((text, part) => text.includes(part)))
    case 'startsWith':
      return eager(ofTexts((text, part) => text.startsWith(part)))
    case 'endsWith':
      return eager(ofTexts((text, part) => text.endsWith(part)))
    case '..':
      return eager(range)
    case '+':
      return eager(add)
    case '-':
      return eager(subtract)
    case '*':
      return eager(multiply)
    case '/':
      return eager(divide)
    case '%':
      return eager(modulo)
    case '**':
      break
  }
  return eager(power)
}

function equality(hint: Hint | undefined): typeof equal {
  if (hint !== 'strings' && hint !== 'ints') return equal
  const type = hint === 'strings' ? 'string' : 'bigint'
  return (left, right, _run, at) => {
    for (const value of [left, right]) {
      if (typeof value === type) continue
      const wanted = hint === 'strings' ? 'a string' : 'an int'
      const message = `this compares ${wanted} with ${described(value)}; test it with == nil first`
      return failAt(at, message)
    }
    return left === right
  }
}

function ofTexts(test: (text: string, part: string) => boolean) {
  return (left: Value, right: Value, run: Run, at: number): boolean => {
    if (isNil(left) || isNil(right)) return false
    const text = toText(left, at)
    run.work(text.length, at)
    return test(text, toText(right, at))
  }
}

function isIn(needle: Value, container: Value, run: Run, at: number): boolean {
  if (container === null) return false
  if (isMap(container)) return inMap(container, needle, at) !== undefined
  if (!isList(container)) return failAt(at, `in does not look into ${described(container)}`)
  run.work(container.length, at)
  if (needle === null) return container.some(isNil)
  const byIdentity = !isNumeric(needle) && !isList(needle) && !isMap(needle)
  if (byIdentity) return container.includes(needle)
  return container.some((item) => equal(item, needle, run, at))
}

/** A list of literals is a set of one type. nil looks up the zero value. */
function inSet(node: Binary, hint: 'stringSet' | 'intSet'): Step {
  const { at } = node
  const items = node.right.kind === 'array' ? node.right.items : []
  const set = new Set<Value>(items.map((item) => ('value' in item ? (item.value as Value) : null)))
  const type = hint === 'stringSet' ? 'string' : 'bigint'
  const zero = hint === 'stringSet' ? '' : 0n
  return (needle) => {
    if (needle !== null && typeof needle !== type) {
      return failAt(at, `${described(needle)} cannot be looked up in this list`)
    }
    return set.has(needle ?? zero)
  }
}

function compileMatches(node: Binary, right: Evaluate): Step {
  const { at } = node
  if (node.right.kind === 'string') {
    const pattern = compilePattern(node.right.value, node.right.at, 'InvalidPattern')
    return (left, run) => !isNil(left) && pattern.matches(toText(left, at), run)
  }
  return (left, run) => {
    const source = right(run)
    if (isNil(left) || isNil(source)) return false
    const text = toText(left, at)
    return compileComputed(toText(source, at), at, run).matches(text, run)
  }
}
