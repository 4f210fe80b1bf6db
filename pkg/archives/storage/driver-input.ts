import { notFound, RegistryError } from '../../base/errors/errors.ts'
import type { ByteRange } from './driver.ts'

const maxSegmentBytes = 255
const maxNameBytes = 1024

/**
 * Refuses names that backends resolve differently: names that leave the directory, have empty parts, or are too long for a
 * file.
 *
 * @returns the name
 * @throws RegistryError NotFound
 */
export function checkObjectName(name: string): string {
  const segments = name.split('/')
  const bad =
    /[\0\\]/.test(name) ||
    !name.isWellFormed() ||
    Buffer.byteLength(name) > maxNameBytes ||
    segments.some(
      (part) => ['', '.', '..'].includes(part) || Buffer.byteLength(part) > maxSegmentBytes,
    )
  if (bad) throw notFound('there is no such archive: its name is not a valid object name')
  return name
}

/**
 * Selects the bytes of an object for a range.
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

/** Whether any object could have such bytes. */
export const isRange = ({ start, end }: ByteRange): boolean =>
  Number.isSafeInteger(start) && start >= 0 && end >= start

export function notSatisfiable(sizeBytes: number): RegistryError {
  return new RegistryError('RangeNotSatisfiable', `the archive has ${sizeBytes} bytes`, {
    headers: { 'Content-Range': `bytes */${sizeBytes}` },
  })
}
