import type { Entry as Record } from 'yauzl'
import { quoted } from './archive-error.ts'
import type { FileWindow } from './file-window.ts'
import { ambiguousZip, damagedZip } from './zip-error.ts'

const headerBytes = 30
const descriptorSignature = 0x08074b50
/** Sizes that stand in an extra field instead. */
const elsewhere = 0xffffffff

/**
 * Compares the header in front of an entry with the directory, and what follows its data.
 *
 * @param next where the next thing in the file begins
 * @returns where the data begins
 * @throws ArchiveError where they tell different things
 */
export async function readLocalHeader(
  file: FileWindow,
  record: Record,
  path: string,
  next: number,
): Promise<number> {
  const start = record.relativeOffsetOfLocalHeader
  const nameLength = record.fileNameRaw.length
  const header = await file.read(start, headerBytes + nameLength)
  if (header.readUInt32LE(0) !== 0x04034b50) throw damagedZip(`${quoted(path)} has no header`)
  const differs = (what: string) => ambiguousZip(`${quoted(path)} has two ${what}`)

  const sameName =
    header.readUInt16LE(26) === nameLength &&
    header.subarray(headerBytes).equals(record.fileNameRaw)
  if (!sameName) throw differs('names')
  const described = (record.generalPurposeBitFlag & 8) !== 0
  // The flags that change how data is read; that of a UTF-8 name does not.
  const flags = (header.readUInt16LE(6) ^ record.generalPurposeBitFlag) & ~0x0806
  if (flags !== 0 || header.readUInt16LE(8) !== record.compressionMethod) throw differs('methods')

  const dataStart = start + headerBytes + nameLength + header.readUInt16LE(28)
  const said = [header.readUInt32LE(14), header.readUInt32LE(18), header.readUInt32LE(22)]
  const known = [record.crc32, record.compressedSize, record.uncompressedSize]
  const same = said.every(
    (value, index) =>
      value === known[index] || (described && value === 0) || (index > 0 && value === elsewhere),
  )
  if (!same) throw differs('sizes')

  const dataEnd = dataStart + record.compressedSize
  if (dataEnd > next) throw ambiguousZip(`${quoted(path)} overlaps what follows it`)
  const after = await file.read(dataEnd, Math.min(next - dataEnd, 25))
  if (after.length > 0 && !(described && isDescriptor(after, record))) {
    throw ambiguousZip(`there are bytes behind ${quoted(path)}`)
  }
  return dataStart
}

/** CRC and sizes once more, behind data whose size was not known when it was written; of 32 or 64 bits, signed or not. */
function isDescriptor(bytes: Buffer, { crc32, compressedSize, uncompressedSize }: Record): boolean {
  const signed = bytes.length === 16 || bytes.length === 24
  if (!signed && bytes.length !== 12 && bytes.length !== 20) return false
  if (signed && bytes.readUInt32LE(0) !== descriptorSignature) return false
  const fields = bytes.subarray(signed ? 4 : 0)
  const sizes =
    fields.length === 12
      ? [fields.readUInt32LE(4), fields.readUInt32LE(8)]
      : [Number(fields.readBigUInt64LE(4)), Number(fields.readBigUInt64LE(12))]
  return (
    fields.readUInt32LE(0) === crc32 && sizes[0] === compressedSize && sizes[1] === uncompressedSize
  )
}
