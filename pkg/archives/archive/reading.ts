import { open, stat } from 'node:fs/promises'
import { ArchiveError, quoted } from './archive-error.ts'
import type { ArchiveEntry, ArchiveReading } from './entry.ts'
import { readFolder } from './folder-reading.ts'
import { type ArchiveLimits, checkPacked } from './limits.ts'
import { readTar } from './tar-reading.ts'
import { readZip } from './zip-reading.ts'

/**
 * Lists the entries of an archive of any format, or of a folder.
 *
 * @throws ArchiveError, even from the iteration
 */
export async function readArchive(reading: ArchiveReading): Promise<AsyncGenerator<ArchiveEntry>> {
  if ((await stat(reading.file)).isDirectory()) return readFolder(reading)
  const format = await formatOfFile(reading.file, reading.limits)
  return format === 'zip' ? readZip(reading) : readTar(reading, format)
}

const blockBytes = 512

/**
 * Detects the format of a file by its bytes, whatever its name.
 *
 * @param limits default: none
 * @throws ArchiveError NotAnArchive that names what the file looks like
 */
export async function formatOfFile(
  path: string,
  limits?: ArchiveLimits,
): Promise<'zip' | 'tar' | 'gzip'> {
  await using file = await open(path)
  if (limits !== undefined) checkPacked((await file.stat()).size, limits)
  const { buffer, bytesRead } = await file.read(Buffer.alloc(blockBytes), 0, blockBytes, 0)
  const bytes = buffer.subarray(0, bytesRead)
  const first = bytes.toString('latin1')
  if (first.startsWith('PK\x03\x04') || first.startsWith('PK\x05\x06')) return 'zip'
  if (first.startsWith('\x1f\x8b')) return 'gzip'
  if (bytes.length === blockBytes && isTarHeader(bytes)) return 'tar'
  throw new ArchiveError('NotAnArchive', `${looksLike(first)}: zip, tar and tar.gz can be read`)
}

/** A header contains the sum of its own bytes, with blanks in place of the sum. */
function isTarHeader(block: Uint8Array): boolean {
  const text = Buffer.from(block.subarray(148, 156)).toString('latin1')
  const sum = block.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 32 : byte), 0)
  return Number.parseInt(text.replaceAll(/[\0 ]/g, ''), 8) === sum
}

function looksLike(first: string): string {
  if (first === '') return 'the file is empty'
  if (/^\s*<(?:!doctype|html|\?xml)/i.test(first)) return 'this is a web page, not an archive'
  if (/^\s*[{[]/.test(first)) return 'this is JSON, not an archive'
  if (first.startsWith('BZh')) return 'this is packed with bzip2'
  if (first.startsWith('\xfd7zXZ')) return 'this is packed with xz'
  if (first.startsWith('\x28\xb5\x2f\xfd')) return 'this is packed with zstd'
  if (first.startsWith('7z\xbc\xaf')) return 'this is packed with 7z'
  return `this is not an archive; it begins with ${quoted(first.slice(0, 16))}`
}
