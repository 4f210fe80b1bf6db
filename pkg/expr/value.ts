import { failAt } from './expression-error.ts'
import type { Run } from './run.ts'
import { compareText } from './text.ts'

/** What an expression computes with: nil is null, an int is a bigint (64 bits), a float is a number. */
export type Value = null | boolean | bigint | number | string | readonly Value[] | ValueMap
export type ValueMap = ReadonlyMap<string, Value>

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

export function isMap(value: Value): value is ValueMap {
  return value instanceof Map
}

export function isNumeric(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

/** As the builtin `type` names it. */
export function typeName(value: Value): string {
  if (value === null) return 'nil'
  if (isList(value)) return 'array'
  if (isMap(value)) return 'map'
  if (typeof value === 'bigint') return 'int'
  if (typeof value === 'number') return 'float'
  return typeof value === 'boolean' ? 'bool' : 'string'
}

/** For messages, with its article. */
export function described(value: Value): string {
  if (value === null) return 'nil'
  if (isList(value)) return 'a list'
  return typeof value === 'bigint' ? 'an int' : `a ${typeName(value)}`
}

export function toBool(value: Value, at: number): boolean {
  return typeof value === 'boolean' ? value : wrongType(value, 'a bool', at)
}

export function toText(value: Value, at: number): string {
  return typeof value === 'string' ? value : wrongType(value, 'a string', at)
}

export function toList(value: Value, at: number): readonly Value[] {
  return isList(value) ? value : wrongType(value, 'a list', at)
}

/** A float is cut, as in Go. */
export function toInt(value: Value, at: number): bigint {
  if (typeof value === 'bigint') return value
  if (typeof value !== 'number') return wrongType(value, 'an int', at)
  const int = Number.isFinite(value) ? BigInt(Math.trunc(value)) : undefined
  if (int === undefined || BigInt.asIntN(64, int) !== int) {
    return failAt(at, `${value} does not fit into 64 bits`)
  }
  return int
}

export function wrongType(value: Value, wanted: string, at: number): never {
  return failAt(at, `this must be ${wanted}, but it is ${described(value)}`)
}

/** `==`: numbers by value, lists element by element, values of different types are never equal. */
export function equal(left: Value, right: Value, run: Run, at: number): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left === right
  if (isNumeric(left) && isNumeric(right)) {
    return typeof left === typeof right ? left === right : Number(left) === Number(right)
  }
  if (isList(left) && isList(right)) {
    run.work(left.length, at)
    return (
      left.length === right.length &&
      left.every((item, index) => equal(item, right[index] ?? null, run, at))
    )
  }
  if (isMap(left) && isMap(right)) return sameMap(left, right, run, at)
  return left === right
}

/** Inside of maps, 1 and 1.0 differ. */
function sameMap(left: ValueMap, right: ValueMap, run: Run, at: number): boolean {
  run.work(left.size, at)
  if (left.size !== right.size) return false
  for (const [key, value] of left) {
    const other = right.get(key)
    if (other === undefined) return false
    // In Go it depends on how a list was made whether two of them are equal here.
    if (isList(value) && isList(other)) failAt(at, 'maps that hold lists cannot be compared')
    const same = isMap(value) && isMap(other) ? sameMap(value, other, run, at) : value === other
    if (!same) return false
  }
  return true
}

/** Negative, zero or positive, as `left` is before, like or after `right`; NaN where a number is none. */
export function compare(left: Value, right: Value, run: Run, at: number): number {
  if (typeof left === 'string' && typeof right === 'string') {
    run.work(Math.min(left.length, right.length), at)
    return compareText(left, right)
  }
  if (!isNumeric(left) || !isNumeric(right)) {
    return failAt(at, `${described(left)} and ${described(right)} have no order`)
  }
  if (typeof left === 'bigint' && typeof right === 'bigint') {
    return left === right ? 0 : left < right ? -1 : 1
  }
  const [a, b] = [Number(left), Number(right)]
  if (a === b) return 0
  return a < b ? -1 : a > b ? 1 : Number.NaN
}

/** `object[key]` and `object.key`. */
export function fetch(object: Value, key: Value, at: number): Value {
  if (isList(object)) {
    const element = elementAt(object, toInt(key, at))
    return element === undefined
      ? failAt(at, `index ${toInt(key, at)} is outside of a list of ${object.length}`)
      : element
  }
  if (isMap(object)) return object.get(toKey(key, at)) ?? null
  const what = typeof key === 'string' ? `member ${key.slice(0, 40)}` : 'element'
  return failAt(at, `${described(object)} has no ${what}`)
}

/** Negative indexes count from the end. */
export function elementAt(list: readonly Value[], index: bigint): Value | undefined {
  return list.at(Number(BigInt.asIntN(53, index) === index ? index : list.length))
}

/** nil looks up the empty key, as it does in Go. */
export function toKey(key: Value, at: number): string {
  return key === null ? '' : toText(key, at)
}
