import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { crc32, createInflateRaw, inflateRawSync } from 'node:zlib'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveReading,
  damagedZip,
  quoted,
} from './entry.ts'
import { FileWindow, readZipLayout, type ZipEntry } from './zip-layout.ts'

const chunkBytes = 256 * 1024
/** Entries up to this size, packed and unpacked, are inflated in one call, because a stream costs more than the work. */
const smallBytes = 512 * 1024
/** Bytes between the end of an entry's data and the next entry are refused. */
const rejectGarbageAfterEnd = true

/**
 * The entries of a zip, in the order of their bytes.
 *
 * @throws ArchiveError from the iteration
 */
export async function* readZip({
  file,
  limits,
  signal,
}: ArchiveReading): AsyncGenerator<ArchiveEntry> {
  const handle = await open(file, 'r')
  try {
    const window = new FileWindow(handle)
    for (const entry of await readZipLayout(handle, limits, signal)) {
      const { path, kind, executable } = entry
      yield { path, kind, executable, content: contentOf(handle, window, entry, signal) }
    }
  } finally {
    await handle.close()
  }
}

/** Reads the bytes of an entry. Throws before the last of them if size or CRC are wrong. */
async function* contentOf(
  file: FileHandle,
  window: FileWindow,
  entry: ZipEntry,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  let sum = 0
  let sizeBytes = 0
  let held: Uint8Array | undefined
  const chunks = entry.compressed ? inflated(file, window, entry) : stored(file, window, entry)
  for await (const chunk of chunks) {
    signal?.throwIfAborted()
    sum = crc32(chunk, sum)
    sizeBytes += chunk.length
    if (sizeBytes > entry.sizeBytes) throw wrong(entry, 'is larger than it says')
    if (held !== undefined) yield held
    held = chunk
  }
  if (sizeBytes !== entry.sizeBytes) throw wrong(entry, 'is smaller than it says')
  if (sum !== entry.crc32) throw wrong(entry, 'has a wrong CRC')
  if (held !== undefined) yield held
}

async function* stored(file: FileHandle, window: FileWindow, { dataStart, packedBytes }: ZipEntry) {
  if (packedBytes <= smallBytes) {
    if (packedBytes > 0) yield await window.read(dataStart, packedBytes)
    return
  }
  for (let at = 0; at < packedBytes; at += chunkBytes) {
    const length = Math.min(chunkBytes, packedBytes - at)
    const { buffer, bytesRead } = await file.read(
      Buffer.allocUnsafe(length),
      0,
      length,
      dataStart + at,
    )
    if (bytesRead !== length) throw damagedZip('it changed while it was read')
    yield buffer
  }
}

async function* inflated(
  file: FileHandle,
  window: FileWindow,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  const { packedBytes, sizeBytes } = entry
  try {
    if (packedBytes <= smallBytes && sizeBytes <= smallBytes) {
      const packed = await window.read(entry.dataStart, packedBytes)
      yield inflateRawSync(packed, {
        chunkSize: Math.max(64, sizeBytes),
        maxOutputLength: Math.max(sizeBytes, 1),
        rejectGarbageAfterEnd,
      })
      return
    }
    const inflate = createInflateRaw({ chunkSize: chunkBytes, rejectGarbageAfterEnd })
    const packed = Readable.from(stored(file, window, entry), { objectMode: false })
    packed.on('error', (error) => inflate.destroy(error))
    yield* packed.pipe(inflate) as AsyncIterable<Buffer>
  } catch (thrown) {
    if (thrown instanceof ArchiveError) throw thrown
    throw wrong(entry, 'cannot be unpacked', thrown)
  }
}

const wrong = (entry: ZipEntry, what: string, cause?: unknown): ArchiveError =>
  damagedZip(`${quoted(entry.path)} ${what}`, cause)
