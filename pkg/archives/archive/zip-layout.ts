import type { FileHandle } from 'node:fs/promises'
import { callbackify } from 'node:util'
import {
  fromRandomAccessReaderPromise,
  RandomAccessReader,
  type Entry as Record,
  type ZipFile,
} from 'yauzl'
import { Turns } from '../../base/pacing/pacing.ts'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  ambiguousZip,
  checkDistinct,
  checkEntries,
  checkUnpacked,
  damagedZip,
  entryPath,
  quoted,
} from './entry.ts'

/** The directory record of an entry, and the offset of its data. */
export interface ZipEntry extends Pick<ArchiveEntry, 'path' | 'kind' | 'executable'> {
  readonly compressed: boolean
  readonly dataStart: number
  readonly packedBytes: number
  readonly sizeBytes: number
  readonly crc32: number
}

/**
 * Reads the directory of a zip and every local header, and checks that they agree. Each byte of the file belongs to exactly
 * one record or entry, so no reader can find other files in it.
 *
 * @throws ArchiveError
 */
export async function readZipLayout(
  file: FileHandle,
  limits: ArchiveLimits,
  signal: AbortSignal | undefined,
): Promise<ZipEntry[]> {
  const window = new FileWindow(file)
  const zip = await openZip(file, window)
  const { entryCount, fileSize } = zip
  checkEntries(entryCount, limits)
  const directoryStart = cursorOf(zip)
  const records = await recordsOf(zip)
  await checkDirectoryEnd(window, zip, directoryStart, cursorOf(zip))
  const unpackedBytes = records.reduce((sum, record) => sum + record.uncompressedSize, 0)
  checkUnpacked(unpackedBytes, fileSize, limits)

  records.sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  const entries: ZipEntry[] = []
  let end = 0
  const turns = new Turns()
  for (const [index, record] of records.entries()) {
    signal?.throwIfAborted()
    await turns.yieldIfDue()
    const path = entryPath(record.fileNameRaw, limits.pathBytes)
    checkReadable(path, record)
    if (record.relativeOffsetOfLocalHeader !== end) throw ambiguousZip(gapMessage(index))
    const next = records[index + 1]?.relativeOffsetOfLocalHeader ?? directoryStart
    const dataStart = await readLocalHeader(window, record, path, next)
    end = next
    entries.push({
      path,
      ...kindOf(path, record),
      compressed: record.compressionMethod === 8,
      dataStart,
      packedBytes: record.compressedSize,
      sizeBytes: record.uncompressedSize,
      crc32: record.crc32,
    })
  }
  if (end !== directoryStart) throw ambiguousZip('it has bytes that belong to no entry')
  checkDistinct(entries)
  return entries
}

const gapMessage = (index: number): string =>
  index === 0 ? 'there are bytes before its first entry' : 'its entries overlap'

async function openZip(file: FileHandle, window: FileWindow): Promise<ZipFile> {
  const options = { lazyEntries: true, decodeStrings: false, autoClose: false }
  const { size } = await file.stat()
  const reader = new DirectoryReader(window)
  return fromRandomAccessReaderPromise(reader, size, options).catch((error: unknown) => {
    throw zipError(error)
  })
}

/** Reads the directory for yauzl in large pieces. Otherwise, yauzl reads twice for every entry. */
class DirectoryReader extends RandomAccessReader {
  readonly #window: FileWindow
  readonly #turns = new Turns()

  constructor(window: FileWindow) {
    super()
    this.#window = window
  }

  override read(
    ...[into, offset, length, position, callback]: Parameters<RandomAccessReader['read']>
  ): void {
    callbackify(() => this.#copy(into.subarray(offset, offset + length), position))(callback)
  }

  async #copy(into: Buffer, position: number): Promise<void> {
    into.set(await this.#window.read(position, into.length))
    await this.#turns.yieldIfDue()
  }
}

/** The offset of the next directory record. The types of the library are wrong here. */
const cursorOf = (zip: ZipFile): number => Number(zip.readEntryCursor)

function recordsOf(zip: ZipFile): Promise<Record[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Record[]>()
  const records: Record[] = []
  zip.on('entry', (record: Record) => {
    records.push(record)
    zip.readEntry()
  })
  zip.once('end', () => resolve(records))
  zip.once('error', (error: unknown) => reject(zipError(error)))
  zip.readEntry()
  return promise
}

function zipError(thrown: unknown): ArchiveError {
  if (thrown instanceof ArchiveError) return thrown
  const { message } = thrown instanceof Error ? thrown : new Error(String(thrown))
  return /encryption/.test(message) ? encrypted() : damagedZip(message, thrown)
}

const encrypted = (): ArchiveError =>
  new ArchiveError('Encrypted', 'the zip is encrypted: pack it without a password')

function checkReadable(path: string, record: Record): void {
  // Traditional encryption, strong encryption, or an encrypted directory.
  if ((record.generalPurposeBitFlag & 0x2041) !== 0) throw encrypted()
  if (![0, 8].includes(record.compressionMethod)) {
    throw new ArchiveError(
      'NotAnArchive',
      `${quoted(path)} is packed with method ${record.compressionMethod}: use deflate, which is what every tool reads`,
    )
  }
  // Some readers use this name instead.
  const other = record.extraFields.find(({ id }) => id === 0x7075)?.data.subarray(5)
  if (other !== undefined && !other.equals(record.fileNameRaw)) {
    throw ambiguousZip(`${quoted(path)} has two names`)
  }
}

function kindOf(path: string, record: Record): Pick<ArchiveEntry, 'kind' | 'executable'> {
  const slash = record.fileNameRaw.at(-1) === 0x2f
  const system = record.versionMadeBy >> 8
  // Unix and macOS store the mode here.
  const mode = system === 3 || system === 19 ? record.externalFileAttributes >>> 16 : 0
  const type = mode & 0o170000
  const executable = (mode & 0o100) !== 0
  if (slash || type === 0o040000) {
    if (!slash || record.uncompressedSize > 0) {
      throw ambiguousZip(`${quoted(path)} is both a file and a directory`)
    }
    return { kind: 'directory', executable: false }
  }
  if (type === 0o120000) return { kind: 'symlink', executable: false }
  if (type === 0 || type === 0o100000) return { kind: 'file', executable }
  throw new ArchiveError('UnsafeArchive', `${quoted(path)} is not a regular file: leave it out`)
}

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
async function checkDirectoryEnd(
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
async function readLocalHeader(
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

const windowBytes = 256 * 1024

/** Reads a file from beginning to end, in small adjacent pieces. */
export class FileWindow {
  readonly #file: FileHandle
  #start = 0
  #bytes = Buffer.alloc(0)

  constructor(file: FileHandle) {
    this.#file = file
  }

  /**
   * @returns a view that does not change later
   * @throws ArchiveError if the file is too short
   */
  async read(start: number, length: number): Promise<Buffer> {
    const at = start - this.#start
    if (at >= 0 && at + length <= this.#bytes.length) return this.#bytes.subarray(at, at + length)
    const wanted = Math.max(length, windowBytes)
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(wanted), 0, wanted, start)
    if (bytesRead < length) throw damagedZip('it ends too early')
    this.#start = start
    this.#bytes = buffer.subarray(0, bytesRead)
    return this.#bytes.subarray(0, length)
  }
}
