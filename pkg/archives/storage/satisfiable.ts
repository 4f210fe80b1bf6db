import { RegistryError } from '../../base/errors/errors.ts'
import type { ByteRange } from './driver.ts'

/**
 * The bytes of an object that a range selects.
 *
 * @throws RegistryError RangeNotSatisfiable
 */
export function satisfiable(range: ByteRange | undefined, sizeBytes: number): ByteRange {
  const last = sizeBytes - 1
  if (range === undefined) return { start: 0, end: last }
  const { start, end } = range
  if (isRange(range) && start <= last) return { start, end: Math.min(end, last) }
  throw notSatisfiable(sizeBytes)
}

/** Whether an object could have such bytes. */
export const isRange = ({ start, end }: ByteRange): boolean =>
  Number.isSafeInteger(start) && start >= 0 && end >= start

export function notSatisfiable(sizeBytes: number): RegistryError {
  return new RegistryError('RangeNotSatisfiable', `the archive has ${sizeBytes} bytes`, {
    headers: { 'Content-Range': `bytes */${sizeBytes}` },
  })
}
