import { failAt } from './expression-error.ts'
import type { Run } from './run.ts'
import { described, isNumeric, toInt, typedList, type Value } from './value.ts'

type Operation = (left: Value, right: Value, run: Run, at: number) => Value

/** Ints stay ints and wrap at 64 bits; with a float, both are floats. */
function arithmetic(
  operator: string,
  ints: (left: bigint, right: bigint) => bigint,
  floats: (left: number, right: number) => number,
): Operation {
  return (left, right, _run, at) => {
    if (typeof left === 'bigint' && typeof right === 'bigint') {
      return BigInt.asIntN(64, ints(left, right))
    }
    return floats(toFloat(left, operator, at), toFloat(right, operator, at))
  }
}

function toFloat(value: Value, operator: string, at: number): number {
  if (isNumeric(value)) return Number(value)
  return failAt(at, `${operator} does not take ${described(value)} here`)
}

export const subtract = arithmetic(
  '-',
  (a, b) => a - b,
  (a, b) => a - b,
)
export const multiply = arithmetic(
  '*',
  (a, b) => a * b,
  (a, b) => a * b,
)
const sum = arithmetic(
  '+',
  (a, b) => a + b,
  (a, b) => a + b,
)

export const add: Operation = (left, right, run, at) => {
  if (typeof left !== 'string' || typeof right !== 'string') return sum(left, right, run, at)
  run.work(left.length + right.length, at)
  return left + right
}

export const divide: Operation = (left, right, _run, at) =>
  toFloat(left, '/', at) / toFloat(right, '/', at)

export const modulo: Operation = (left, right, _run, at) => {
  if (typeof left !== 'bigint' || typeof right !== 'bigint') {
    return failAt(at, '% takes two ints')
  }
  return right === 0n ? failAt(at, 'integer divide by zero') : left % right
}

export const power: Operation = (left, right, _run, at) => {
  const [base, exponent] = [toFloat(left, '**', at), toFloat(right, '**', at)]
  // C and Go call these 1, JavaScript NaN.
  if (base === 1 || (base === -1 && Math.abs(exponent) === Infinity)) return 1
  return base ** exponent
}

export const range: Operation = (left, right, run, at) => {
  const [from, to] = [toInt(left, at), toInt(right, at)]
  // The size wraps too: the range from the least to the greatest int is empty.
  const size = Number(BigInt.asIntN(64, to - from + 1n))
  if (size <= 0) return typedList('int', [])
  run.grow(size, at)
  return typedList(
    'int',
    Array.from({ length: size }, (_, index) => from + BigInt(index)),
  )
}

export function negate(value: Value, at: number): Value {
  return typeof value === 'bigint' ? BigInt.asIntN(64, -value) : -toFloat(value, '-', at)
}
