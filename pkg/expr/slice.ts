import type { Run } from './run.ts'
import { sliceBytes } from './text.ts'
import { isList, partOf, toInt, type Value, wrongType } from './value.ts'

interface Bounds {
  /** Default: the start. */
  readonly from: Value | undefined
  /** Default: the end. */
  readonly to: Value | undefined
}

/** Bounds beyond the ends are moved to them, and negative bounds count from the end. The result may be empty. */
export function slice(value: Value, { from, to }: Bounds, run: Run, at: number): Value {
  if (!isList(value) && typeof value !== 'string') return wrongType(value, 'a list or string', at)
  const length = isList(value) ? value.length : Buffer.byteLength(value)
  run.work(length, at)
  const end = to === undefined ? length : bound(to, length, at)
  const start = from === undefined ? 0 : Math.min(bound(from, length, at), end)
  return isList(value) ? partOf(value, start, end) : sliceBytes(value, start, end, at)
}

function bound(value: Value, length: number, at: number): number {
  const offset = Number(toInt(value, at))
  return Math.min(Math.max(offset < 0 ? length + offset : offset, 0), length)
}
