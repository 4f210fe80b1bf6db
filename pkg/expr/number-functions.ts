import { failAt } from './expression-error.ts'
import { maxInt, parseDecimal } from './number-literal.ts'
import type { BuiltinFunction, Run } from './run.ts'
import { lengthOf } from './text.ts'
import {
  compare,
  isList,
  isMap,
  isNumeric,
  toInt,
  typeName,
  type Value,
  wrongType,
} from './value.ts'

/** The builtins for numbers, sizes and names of types. */
export const numbers: readonly (readonly [string, BuiltinFunction])[] = [
  ['len', ([value = null], run, at) => size(value, run, at)],
  ['type', ([value = null], run, at) => typeOf(value, run, at)],
  [
    'int',
    ([value = null], _run, at) =>
      typeof value === 'string' ? parseInt(value, at) : toInt(value, at),
  ],
  ['float', ([value = null], _run, at) => toFloat(value, at)],
  ['abs', ([value = null], _run, at) => abs(value, at)],
  ['ceil', ([value = null], _run, at) => Math.ceil(toNumber(value, at))],
  ['floor', ([value = null], _run, at) => Math.floor(toNumber(value, at))],
  ['round', ([value = null], _run, at) => round(toNumber(value, at))],
  ['max', (args, run, at) => greatest(args, 1, run, at)],
  ['min', (args, run, at) => greatest(args, -1, run, at)],
]

/** Go has another type for bytes, and here it is unknown which ints are bytes. */
function typeOf(value: Value, run: Run, at: number): Value {
  if (typeof value !== 'bigint' || !run.hasBytes) return typeName(value)
  return failAt(at, 'this may be a byte of a string, whose type is not known: compare it by value')
}

function size(value: Value, run: Run, at: number): bigint {
  if (isList(value)) return BigInt(value.length)
  if (isMap(value)) return BigInt(value.size)
  if (typeof value !== 'string') return wrongType(value, 'a string, list or map', at)
  run.work(value.length, at)
  return BigInt(lengthOf(value))
}

function parseInt(text: string, at: number): bigint {
  const value = /^[+-]?\d{1,40}$/.test(text) ? BigInt(text.replace('+', '')) : undefined
  if (value === undefined || value > maxInt || value < -maxInt - 1n) {
    return failAt(at, `int cannot read ${JSON.stringify(text.slice(0, 40))}`)
  }
  return value
}

function toFloat(value: Value, at: number): number {
  if (typeof value !== 'string') return toNumber(value, at)
  const float = parseDecimal(value)
  return float ?? failAt(at, `float cannot read ${JSON.stringify(value.slice(0, 40))}`)
}

function toNumber(value: Value, at: number): number {
  return isNumeric(value) ? Number(value) : wrongType(value, 'a number', at)
}

function abs(value: Value, at: number): Value {
  if (typeof value === 'bigint') return BigInt.asIntN(64, value < 0n ? -value : value)
  return Math.abs(toNumber(value, at))
}

/** Rounds halves to the larger absolute value, unlike Math.round. */
function round(value: number): number {
  const whole = Math.trunc(value)
  return Math.abs(value - whole) < 0.5 ? whole : whole + Math.sign(value)
}

/** A single value is its own maximum and minimum, whatever it is. */
function greatest(args: readonly Value[], sign: 1 | -1, run: Run, at: number): Value {
  const [only = null] = args
  return args.length === 1 && !isList(only) ? only : extreme(args, sign, run, at)
}

/** The greatest or least of numbers and of the numbers in lists; nil if there is none. */
function extreme(values: readonly Value[], sign: 1 | -1, run: Run, at: number): Value {
  run.work(values.length, at)
  let best: Value = null
  for (const value of values) {
    const candidate = isList(value) ? extreme(value, sign, run, at) : value
    if (candidate === null && isList(value)) continue
    if (!isNumeric(candidate)) return wrongType(candidate, 'a number', at)
    if (best === null || sign * compare(candidate, best, run, at) > 0) best = candidate
  }
  return best
}
