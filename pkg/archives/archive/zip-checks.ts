import type { Entry as Record, ZipFile } from 'yauzl'
import { ambiguousZip, damagedZip, quoted } from './archive-error.ts'
import type { FileWindow } from './file-window.ts'

const headerBytes = 30
const descriptorSignature = 0x08074b50
const endBytes = 22
const locatorBytes = 20
const maxRecordBytes = 4096
/** The value is in an extra field or record. */
const elsewhere = 0xffffffff

/**
 * Checks that the directory fills the space between the last entry and the records at the end of the file. These must agree
 * with it, because some readers count from the end.
 *
 * @throws ArchiveError
 */
export async function checkDirectoryEnd(
  file: FileWindow,
  zip: ZipFile,
  start: number,
  end: number,
): Promise<void> {
  const endRecord = zip.fileSize - endBytes - zip.comment.length
  const record = await file.read(endRecord, endBytes)
  const [count, sizeBytes, offset] = [
    record.readUInt16LE(10),
    record.readUInt32LE(12),
    record.readUInt32LE(16),
  ]
  const fits =
    (count === zip.entryCount || count === 0xffff) &&
    (sizeBytes === end - start || sizeBytes === elsewhere) &&
    (offset === start || offset === elsewhere)
  if (!fits) throw ambiguousZip('its end describes another directory')
  const between = endRecord - end
  if (between === 0 && count === zip.entryCount) return
  if (between < 0 || between > maxRecordBytes || between < 56 + locatorBytes) throw hidden()
  await checkLargeRecord(await file.read(end, between), start, end, zip.entryCount)
}

/** Checks the zip64 record and its locator, whose numbers exceed 16 and 32 bits. */
async function checkLargeRecord(bytes: Buffer, start: number, end: number, count: number) {
  const locator = bytes.length - locatorBytes
  const whole =
    bytes.readUInt32LE(0) === 0x06064b50 &&
    Number(bytes.readBigUInt64LE(4)) + 12 === locator &&
    bytes.readUInt32LE(locator) === 0x07064b50 &&
    Number(bytes.readBigUInt64LE(locator + 8)) === end
  if (!whole) throw hidden()
  const fits =
    Number(bytes.readBigUInt64LE(32)) === count &&
    Number(bytes.readBigUInt64LE(40)) === end - start &&
    Number(bytes.readBigUInt64LE(48)) === start
  if (!fits) throw damagedZip('its end describes another directory')
}

const hidden = () => ambiguousZip('it has bytes that belong to no entry')

/**
 * Compares the local header of an entry with the directory, and checks the bytes after its data.
 *
 * @param next offset of the next thing in the file
 * @returns offset of the data
 * @throws ArchiveError if they disagree
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
  // Compares only flags that change how data is read. The flag for UTF-8 names does not.
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
    throw ambiguousZip(`there are bytes after ${quoted(path)}`)
  }
  return dataStart
}

/** The data descriptor repeats CRC and sizes after data of unknown size, with 32 or 64 bits, with or without a signature. */
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
