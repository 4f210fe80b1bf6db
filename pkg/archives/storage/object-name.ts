import { notFound } from '../../base/errors/errors.ts'

const maxSegmentBytes = 255
const maxNameBytes = 1024

/**
 * Refuses names that backends understand differently: names that leave the directory, have empty parts, or are too long for
 * a file.
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
