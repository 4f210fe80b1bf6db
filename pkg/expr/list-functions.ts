import { failAt } from './expression-error.ts'
import type { BuiltinFunction, Run } from './run.ts'
import { sorted } from './sort.ts'
import {
  elementAt,
  equal,
  GroupedMap,
  inMap,
  isList,
  isMap,
  noList,
  partOf,
  toInt,
  toItems,
  toList,
  type Value,
  wrongType,
} from './value.ts'

/** The builtins on lists and maps. */
export const lists: readonly (readonly [string, BuiltinFunction])[] = [
  ['first', ([value = null], run, at) => edge(value, 0n, at, run)],
  ['last', ([value = null], run, at) => edge(value, -1n, at, run)],
  ['get', ([from = null, key = null], run, at) => get(from, key, at, run)],
  ['take', take],
  ['keys', ([value = null], run, at) => entries(value, 'keys', run, at)],
  ['values', ([value = null], run, at) => entries(value, 'values', run, at)],
  [
    'reverse',
    ([value = null], run, at) => {
      const list = toList(value, at)
      run.grow(list.length, at)
      return list.toReversed()
    },
  ],
  ['uniq', ([value = null], run, at) => uniq(toList(value, at), run, at)],
  ['concat', concat],
  ['flatten', ([value = null], run, at) => flatten(toList(value, at), run, at)],
  [
    'sort',
    ([value = null, order], run, at) => {
      // A value that is not a list is sorted to a nil list.
      const list = isList(value) ? value : noList
      run.grow(list.length, at)
      const keyed = list.map((item) => ({ key: item }))
      const keys = sorted(keyed, order, run, at).map(({ key }) => key)
      return isList(value) ? keys : noList
    },
  ],
]

/** nil if there is no such element, whatever the value is. */
function edge(value: Value, index: bigint, at: number, run: Run): Value {
  if (value instanceof GroupedMap) return inMap(value, index, at) ?? noList
  const hasItems = isList(value) || typeof value === 'string'
  return hasItems ? (elementAt(toItems(value, at, run), index) ?? null) : null
}

function get(from: Value, key: Value, at: number, run: Run): Value {
  if (isList(from) || typeof from === 'string') {
    return elementAt(toItems(from, at, run), toInt(key, at)) ?? null
  }
  return isMap(from) ? (inMap(from, key, at) ?? null) : null
}

function take([value = null, count = null]: readonly Value[], run: Run, at: number): Value {
  const list = toList(value, at)
  if (typeof count !== 'bigint') return wrongType(count, 'an int', at)
  if (count < 0n) return failAt(at, 'take needs a count of 0 or more')
  run.work(list.length, at)
  return count >= list.length ? list : partOf(list, 0, Number(count))
}

function entries(value: Value, which: 'keys' | 'values', run: Run, at: number): Value {
  if (!isMap(value)) return wrongType(value, 'a map', at)
  run.work(value.size, at)
  return [...value[which]()]
}

function concat(args: readonly Value[], run: Run, at: number): Value {
  const parts = args.map((arg) => toList(arg, at))
  for (const part of parts) run.grow(part.length, at)
  const all = parts.flat()
  return all.length === 0 ? noList : all
}

/** Strings are looked up in a set. Other values are compared with everything seen before. */
function uniq(list: readonly Value[], run: Run, at: number): Value {
  run.work(list.length, at)
  const seen = new Set<string>()
  const others: Value[] = []
  return list.filter((item) => {
    if (typeof item === 'string') {
      const isNew = !seen.has(item)
      seen.add(item)
      return isNew
    }
    run.work(others.length, at)
    const isNew = !others.some((other) => equal(item, other, run, at))
    if (isNew) others.push(item)
    return isNew
  })
}

function flatten(list: readonly Value[], run: Run, at: number): Value[] {
  run.work(list.length, at)
  const flat: Value[] = []
  for (const item of list) {
    if (!isList(item)) {
      run.grow(1, at)
      flat.push(item)
      continue
    }
    for (const inner of flatten(item, run, at)) flat.push(inner)
  }
  return flat
}
