import { add } from './arithmetic.ts'
import type { Call } from './ast.ts'
import { failAt } from './expression-error.ts'
import type { Evaluate, Run } from './run.ts'
import { sorted } from './sort.ts'
import { GroupedMap, toAnyKey, toBool, toItems, type Value } from './value.ts'

/** The builtins that take a closure. */
export function compileLoop(call: Call, args: readonly Evaluate[]): Evaluate {
  const [collection = () => null, closure, extra] = args
  const { at } = call
  const loop = loops.get(call.name)
  return (run) => {
    const from = collection(run)
    if (call.name === 'reduce' && typeof from === 'string') {
      // In Go the result depends on the expected type, and is sometimes an error.
      return failAt(at, 'reduce takes a list, and this is a string: use split to take it apart')
    }
    const items = toItems(from, at, run)
    const outer = run.scope
    const each = (index: number, acc: Value = null): Value => {
      run.step(1, at)
      const item = items[index] ?? null
      if (closure === undefined) return item
      run.scope = { item, index: BigInt(index), acc }
      return closure(run)
    }
    const test = (index: number): boolean => toBool(each(index), at)
    const result = loop?.({ items, each, test, extra, run, call }) ?? null
    run.scope = outer
    return result
  }
}

interface Loop {
  readonly items: readonly Value[]
  /** The result of the closure for an element, or the element if there is no closure. */
  readonly each: (index: number, acc?: Value) => Value
  readonly test: (index: number) => boolean
  readonly extra: Evaluate | undefined
  readonly run: Run
  readonly call: Call
}

const loops = new Map<string, (loop: Loop) => Value>([
  ['all', ({ items, test }) => items.every((_, index) => test(index))],
  ['any', ({ items, test }) => items.some((_, index) => test(index))],
  ['none', ({ items, test }) => !items.some((_, index) => test(index))],
  ['one', (loop) => matching(loop).length === 1],
  ['count', count],
  ['sum', sum],
  [
    'filter',
    (loop) => {
      const kept = matching(loop)
      loop.run.grow(kept.length, loop.call.at)
      return kept
    },
  ],
  [
    'map',
    ({ items, each, run, call }) => {
      run.grow(items.length, call.at)
      return items.map((_, index) => each(index))
    },
  ],
  ['find', (loop) => found(loop, firstOf(loop))],
  ['findLast', (loop) => found(loop, lastOf(loop))],
  ['findIndex', (loop) => place(firstOf(loop))],
  ['findLastIndex', (loop) => place(lastOf(loop))],
  ['reduce', reduce],
  ['sortBy', sortBy],
  ['groupBy', groupBy],
])

function matching({ items, test }: Loop): Value[] {
  return items.filter((_, index) => test(index))
}

function firstOf({ items, test }: Loop): number {
  return items.findIndex((_, index) => test(index))
}

function lastOf({ items, test }: Loop): number {
  return items.findLastIndex((_, index) => test(index))
}

function found({ items, call }: Loop, index: number): Value {
  if (index < 0 && call.throws) return failAt(call.at, 'no element was found')
  return items[index] ?? null
}

function place(index: number): Value {
  return index < 0 ? null : BigInt(index)
}

function count({ items, test, call: { threshold } }: Loop): Value {
  let total = 0n
  for (const index of items.keys()) {
    if (test(index)) total += 1n
    if (total === threshold) break
  }
  return total
}

function sum({ items, each, run, call }: Loop): Value {
  let total: Value = 0n
  for (const index of items.keys()) total = add(each(index), total, run, call.at)
  return total
}

function reduce({ items, each, extra, run, call }: Loop): Value {
  if (extra === undefined && items.length === 0) {
    return failAt(call.at, 'reduce of an empty list needs a start')
  }
  let acc = extra === undefined ? (items[0] ?? null) : extra(run)
  for (let index = extra === undefined ? 1 : 0; index < items.length; index += 1) {
    acc = each(index, acc)
  }
  return acc
}

function groupBy({ items, each, run, call }: Loop): Value {
  run.grow(items.length, call.at)
  const lists = new Map<Value, Value[]>()
  for (const [index, item] of items.entries()) {
    const key = toAnyKey(each(index), call.at)
    const list = lists.get(key)
    if (list === undefined) lists.set(key, [item])
    else list.push(item)
  }
  return new GroupedMap(lists)
}

function sortBy({ items, each, extra, run, call }: Loop): Value {
  const order = extra?.(run)
  run.grow(items.length, call.at)
  const keyed = items.map((item, index) => ({ item, key: each(index) }))
  return sorted(keyed, order, run, call.at).map(({ item }) => item)
}
