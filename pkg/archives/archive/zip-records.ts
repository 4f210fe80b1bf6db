/* The headers and records of a zip (APPNOTE.TXT 4.3). Names are UTF-8; sizes and CRC follow the content. */

/** 1980-01-01 00:00, the earliest time of the format; the second word is the date. */
const dosTime = 0
const dosDate = 0x21
const flags = (1 << 11) | (1 << 3)
const deflate = 8
const versionNeeded = 20
/** A Unix system, version 6.3 of the format. */
const versionMadeBy = (3 << 8) | 63

interface Sizes {
  /** CRC-32. */
  readonly sum: number
  readonly packedBytes: number
  readonly sizeBytes: number
}

/** The header before the content of a file. */
export function fileHeader(name: Buffer): Buffer {
  const header = Buffer.alloc(30 + name.length)
  header.writeUInt32LE(0x04034b50, 0)
  header.writeUInt16LE(versionNeeded, 4)
  writeShared(header, 6)
  header.writeUInt16LE(name.length, 26)
  name.copy(header, 30)
  return header
}

/** The record after the content of a file. */
export function descriptor(sizes: Sizes): Buffer {
  const record = Buffer.alloc(16)
  record.writeUInt32LE(0x08074b50, 0)
  writeSizes(record, 4, sizes)
  return record
}

/** The directory's record of a file. */
export function directoryRecord(
  name: Buffer,
  file: Sizes & { readonly start: number; readonly executable: boolean },
): Buffer {
  const record = Buffer.alloc(46 + name.length)
  record.writeUInt32LE(0x02014b50, 0)
  record.writeUInt16LE(versionMadeBy, 4)
  record.writeUInt16LE(versionNeeded, 6)
  writeShared(record, 8)
  writeSizes(record, 16, file)
  record.writeUInt16LE(name.length, 28)
  const mode = 0o100000 | (file.executable ? 0o755 : 0o644)
  record.writeUInt16LE(mode, 40)
  record.writeUInt32LE(withoutZip64(file.start), 42)
  name.copy(record, 46)
  return record
}

/** @param directory.files at most 65,534 */
export function directoryEnd(directory: {
  readonly files: number
  readonly start: number
  readonly sizeBytes: number
}): Buffer {
  const { files, start, sizeBytes } = directory
  const record = Buffer.alloc(22)
  record.writeUInt32LE(0x06054b50, 0)
  record.writeUInt16LE(files, 8)
  record.writeUInt16LE(files, 10)
  record.writeUInt32LE(sizeBytes, 12)
  record.writeUInt32LE(withoutZip64(start), 16)
  return record
}

function writeShared(record: Buffer, at: number): void {
  record.writeUInt16LE(flags, at)
  record.writeUInt16LE(deflate, at + 2)
  record.writeUInt16LE(dosTime, at + 4)
  record.writeUInt16LE(dosDate, at + 6)
}

function writeSizes(record: Buffer, at: number, { sum, packedBytes, sizeBytes }: Sizes): void {
  record.writeUInt32LE(sum, at)
  record.writeUInt32LE(withoutZip64(packedBytes), at + 4)
  record.writeUInt32LE(withoutZip64(sizeBytes), at + 8)
}

function withoutZip64(bytes: number): number {
  if (bytes > 0xfffffffe) throw new RangeError('a zip without zip64 holds 4 GiB')
  return bytes
}
