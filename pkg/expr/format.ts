import type { Run } from './run.ts'
import { compareCodePoints } from './text.ts'
import { isList, isMap, typeName, type Value } from './value.ts'

/** A value as Go prints it with %v: `[a b]`, `map[k:1]`, `<nil>`, `1e+06`. */
export function format(value: Value, run: Run, at: number): string {
  if (typeof value === 'string') {
    run.work(value.length, at)
    return value
  }
  run.step(1, at)
  if (value === null) return '<nil>'
  if (typeof value === 'number') return formatFloat(value)
  if (isList(value)) return `[${value.map((item) => format(item, run, at)).join(' ')}]`
  if (isMap(value)) {
    const entries = [...value].toSorted(([left], [right]) => compareKeys(left, right))
    return `map[${entries.map(([key, item]) => `${format(key, run, at)}:${format(item, run, at)}`).join(' ')}]`
  }
  return String(value)
}

const kinds = ['nil', 'int', 'float', 'bool', 'string']

/** As Go prints maps: nil first, then by type, numbers and strings by value. */
function compareKeys(left: Value, right: Value): number {
  if (typeof left === 'string' && typeof right === 'string') return compareCodePoints(left, right)
  const byKind = kinds.indexOf(typeName(left)) - kinds.indexOf(typeName(right))
  return byKind === 0 ? Number(left) - Number(right) : byKind
}

/** The shortest digits, with an exponent of at least two digits below 1e-4 and from 1e6 on. */
function formatFloat(value: number): string {
  if (Number.isNaN(value)) return 'NaN'
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf'
  if (value === 0) return Object.is(value, -0) ? '-0' : '0'
  const [mantissa = '', exponentText = '0'] = value.toExponential().split('e')
  const exponent = Number(exponentText)
  if (exponent >= -4 && exponent < 6) return String(value)
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
}
