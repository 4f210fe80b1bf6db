import type { ZipFile } from 'yauzl'
import type { FileWindow } from './file-window.ts'
import { ambiguousZip, damagedZip } from './zip-error.ts'

const endBytes = 22
const locatorBytes = 20
const maxRecordBytes = 4096
const elsewhere = 0xffffffff

/**
 * The directory must fill what is between the last entry and the records at the end of the file, and these must say the
 * same of it: some readers count from the end.
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

/** The record of a zip with more entries or bytes than 16 and 32 bits count, and its locator. */
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
