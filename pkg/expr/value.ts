import { failAt } from './expression-error.ts'
import { compareCodePoints } from './text.ts'

/** The values of expressions: nil is null, an int is a bigint (64 bits), a float is a number. */
export type Value = null | boolean | bigint | number | string | readonly Value[] | ValueMap
/** The keys are strings, except in maps of `groupBy`. */
export type ValueMap = ReadonlyMap<Value, Value>

export function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

export function isMap(value: Value): value is ValueMap {
  return value instanceof Map
}

/** Nil lists, which Go distinguishes from empty lists: `concat()` without arguments, `split(…, 0)`. */
export const noList: readonly Value[] = Object.freeze([])
export const noStrings: readonly Value[] = Object.freeze([])

/** nil or a nil list, as tested by `== nil`, `??` and `?.`. */
export function isNil(value: Value): boolean {
  return value === null || value === noList || value === noStrings
}

/** Go has other types for lists of strings and of ints than for lists of anything, even if they are empty. */
const typedLists = new WeakMap<readonly Value[], 'string' | 'int'>([[noStrings, 'string']])

export function typedList<V extends Value>(
  type: 'string' | 'int',
  list: readonly V[],
): readonly V[] {
  typedLists.set(list, type)
  return list
}

export function elementTypeOf(list: readonly Value[]): 'string' | 'int' | 'any' {
  return typedLists.get(list) ?? 'any'
}

/** A part of a list, with the type of the list. A nil list has no other part than itself. */
export function partOf(list: readonly Value[], from: number, to: number): readonly Value[] {
  if (isNil(list)) return list
  const type = typedLists.get(list)
  const part = list.slice(from, to)
  return type === undefined ? part : typedList(type, part)
}

/** A map of `groupBy`, whose keys can be anything. */
export class GroupedMap extends Map<Value, Value> {}

export function isNumeric(value: Value): value is bigint | number {
  return typeof value === 'bigint' || typeof value === 'number'
}

/** The name that the builtin `type` returns. */
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

/** The work of one evaluation. */
interface Work {
  hasBytes: boolean
  work(size: number, at: number): void
}

/**
 * The items to loop over or to index. If the static type was unknown, Go uses the bytes of a string. An empty map has no
 * items.
 */
export function toItems(value: Value, at: number, run: Work): readonly Value[] {
  if (typeof value === 'string') {
    run.hasBytes = true
    return Array.from(Buffer.from(value), (byte) => BigInt(byte))
  }
  return isMap(value) && value.size === 0 ? [] : toList(value, at)
}

/** A float is truncated, as in Go. */
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
export function equal(left: Value, right: Value, run: Work, at: number): boolean {
  if (typeof left === 'string' && typeof right === 'string') return left === right
  if (isNumeric(left) && isNumeric(right)) {
    return typeof left === typeof right ? left === right : Number(left) === Number(right)
  }
  if (isList(left) && isList(right)) {
    run.work(left.length, at)
    const types = [elementTypeOf(left), elementTypeOf(right)]
    if (!types.includes('any') && types[0] !== types[1]) return false
    return (
      left.length === right.length &&
      left.every((item, index) => equal(item, right[index] ?? null, run, at))
    )
  }
  if (isMap(left) && isMap(right)) return sameMap(left, right, run, at)
  return left === right || (isNil(left) && isNil(right))
}

/** Inside maps, 1 and 1.0 differ. */
function sameMap(left: ValueMap, right: ValueMap, run: Work, at: number): boolean {
  run.work(left.size, at)
  if (left instanceof GroupedMap !== right instanceof GroupedMap) return false
  if (left.size !== right.size) return false
  for (const [key, value] of left) {
    const other = right.get(key)
    if (other === undefined) return false
    if (!identical(value, other, run, at)) return false
  }
  return true
}

/** Equal values of one type, and lists of one type with equal elements. A nil list does not equal an empty one. */
function identical(left: Value, right: Value, run: Work, at: number): boolean {
  if (isMap(left) && isMap(right)) return sameMap(left, right, run, at)
  if (!isList(left) || !isList(right)) return left === right
  run.work(left.length, at)
  return (
    left.length === right.length &&
    elementTypeOf(left) === elementTypeOf(right) &&
    isNil(left) === isNil(right) &&
    left.every((item, index) => identical(item, right[index] ?? null, run, at))
  )
}

/** Negative, zero or positive, as `left` is before, equal to or after `right`; NaN if one is NaN. */
export function compare(left: Value, right: Value, run: Work, at: number): number {
  if (typeof left === 'string' && typeof right === 'string') {
    run.work(Math.min(left.length, right.length), at)
    return compareCodePoints(left, right)
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
export function fetch(object: Value, key: Value, at: number, run: Work): Value {
  if (isList(object) || (typeof object === 'string' && isNumeric(key))) {
    const items = toItems(object, at, run)
    const element = elementAt(items, toInt(key, at))
    return element === undefined
      ? failAt(at, `index ${toInt(key, at)} is outside of a list of ${items.length}`)
      : element
  }
  if (isMap(object)) return inMap(object, key, at) ?? (object instanceof GroupedMap ? noList : null)
  const what = typeof key === 'string' ? `member ${key.slice(0, 40)}` : 'element'
  return failAt(at, `${described(object)} has no ${what}`)
}

/** Negative indexes count from the end. */
export function elementAt(list: readonly Value[], index: bigint): Value | undefined {
  return list.at(Number(BigInt.asIntN(53, index) === index ? index : list.length))
}

/** The value of a key in a map; undefined if there is none. */
export function inMap(map: ValueMap, key: Value, at: number): Value | undefined {
  return map.get(map instanceof GroupedMap ? toAnyKey(key, at) : toKey(key, at))
}

/** A key of `groupBy`: anything but lists and maps. */
export function toAnyKey(key: Value, at: number): Value {
  return isList(key) || isMap(key) ? wrongType(key, 'a key', at) : key
}

/** nil looks up the empty key, as it does in Go. */
function toKey(key: Value, at: number): string {
  return key === null ? '' : toText(key, at)
}
