import type { FileHandle } from 'node:fs/promises'
import { callbackify } from 'node:util'
import {
  fromRandomAccessReaderPromise,
  RandomAccessReader,
  type Entry as Record,
  type ZipFile,
} from 'yauzl'
import { Turns } from '../../base/pacing/pacing.ts'
import { ArchiveError, ambiguousZip, damagedZip, quoted } from './archive-error.ts'
import { checkDistinct } from './distinct-paths.ts'
import type { ArchiveEntry } from './entry.ts'
import { entryPath } from './entry-path.ts'
import { FileWindow } from './file-window.ts'
import { type ArchiveLimits, checkEntries, checkUnpacked } from './limits.ts'
import { checkDirectoryEnd, readLocalHeader } from './zip-checks.ts'

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
