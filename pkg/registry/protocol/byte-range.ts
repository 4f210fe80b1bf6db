import type { ByteRange } from '../../archives/storage/storage.ts'

/** Two numbers of 16 digits, and blanks. Longer headers cannot be the range of a file, and are not parsed. */
const maxCharacters = 64

/**
 * Reads a `Range` header (RFC 9110, section 14). Anything but a single range of bytes is ignored, as the RFC
 * allows: the client then gets the whole archive.
 */
export function parseRange(
  header: string | undefined,
  sizeBytes: number,
): ByteRange | 'whole' | 'unsatisfiable' {
  if (header !== undefined && header.length > maxCharacters) return 'whole'
  const match = header?.match(/^\s*bytes\s*=\s*(\d*)\s*-\s*(\d*)\s*$/i)
  const [, first = '', last = ''] = match ?? []
  if (first === '' && last === '') return 'whole'
  if (first === '') {
    const length = Math.min(Number(last), sizeBytes)
    return length === 0 ? 'unsatisfiable' : { start: sizeBytes - length, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return 'whole'
  return start >= sizeBytes ? 'unsatisfiable' : { start, end }
}
