import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { extract, type Header } from 'tar-stream'
import { messageOf } from '../../base/errors/errors.ts'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveReading,
  checkEntries,
  checkUnpacked,
  entryPath,
  quoted,
} from './entry.ts'

const chunkBytes = 256 * 1024
const blockBytes = 512
/** Limit of the bytes between two entries: long names, attributes, the zeros at the end. */
const maxBetweenBytes = 8 * 1024 * 1024

/** Counts the bytes of a tar outside its entries, because a reader keeps such headers in memory. */
class Position {
  fedBytes = 0
  /** End of the last entry's content, padded to a block. */
  entryEnd = 0

  entry(offset: number, { size }: Header): void {
    this.entryEnd = offset + blockBytes + Math.ceil(size / blockBytes) * blockBytes
  }

  feed(bytes: number): void {
    this.fedBytes += bytes
    if (this.fedBytes - this.entryEnd > maxBetweenBytes + chunkBytes) {
      throw damaged('its headers are too large')
    }
  }

  end(): void {
    if (this.fedBytes - this.entryEnd < 2 * blockBytes)
      throw damaged('it is cut: its end is missing')
  }
}

/**
 * The entries of a tar, in its order.
 *
 * @throws ArchiveError from the iteration
 */
export async function* readTar(
  { file, limits, signal }: ArchiveReading,
  format: 'tar' | 'gzip',
): AsyncGenerator<ArchiveEntry> {
  const { size: fileBytes } = await stat(file)
  // Most modules are small. Much larger buffers cost more than the work.
  const bufferBytes = (wanted: number) => Math.min(chunkBytes, Math.max(16 * 1024, wanted))
  const packed = createReadStream(file, { highWaterMark: bufferBytes(fileBytes), signal })
  const chunkSize = bufferBytes(4 * fileBytes)
  const gunzip = format === 'gzip' ? createGunzip({ chunkSize }) : undefined
  const unpacked = gunzip === undefined ? packed : pipeline(packed, gunzip, () => undefined)
  const tar = extract()
  const position = new Position()
  const packedBytes = () => gunzip?.bytesWritten ?? position.fedBytes

  async function feed(): Promise<void> {
    try {
      for await (const chunk of unpacked as AsyncIterable<Buffer>) {
        position.feed(chunk.length)
        checkUnpacked(position.fedBytes, packedBytes(), limits)
        if (!tar.write(chunk)) await drained(tar)
        if (tar.destroyed) return
      }
      // Concatenated gzip streams are one stream. Other bytes after them would not be checked.
      if (packedBytes() !== fileBytes) throw damaged('there are bytes after its end')
      tar.end(null)
    } catch (thrown) {
      tar.destroy(asError(thrown))
    }
  }
  const feeding = feed()

  try {
    let count = 0
    for await (const entry of tar) {
      const { header, offset } = entry
      position.entry(offset, header)
      checkEntries(++count, limits)
      checkUnpacked(header.size + position.fedBytes - chunkBytes, fileBytes, limits)
      yield entryOf(header, contentOf(entry, signal), limits.pathBytes)
      entry.resume()
    }
    position.end()
  } catch (thrown) {
    throw refusal(thrown, signal)
  } finally {
    tar.destroy()
    unpacked.destroy()
    packed.destroy()
    await feeding
  }
}

async function* contentOf(
  entry: AsyncIterable<unknown>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of entry) yield chunk as Buffer
  } catch (thrown) {
    throw refusal(thrown, signal)
  }
}

function refusal(thrown: unknown, signal: AbortSignal | undefined): ArchiveError {
  signal?.throwIfAborted()
  if (thrown instanceof ArchiveError) return thrown
  return damaged(messageOf(thrown), thrown)
}

function entryOf(
  header: Header,
  content: AsyncIterable<Buffer>,
  maxPathBytes: number,
): ArchiveEntry {
  const { name, type, mode, linkname } = header
  const path = entryPath(name, maxPathBytes)
  const kind = kinds.get(type)
  const sparse = Object.keys(header.pax ?? {}).some((key) => key.startsWith('GNU.sparse'))
  if (kind === undefined || sparse) {
    const what =
      type === 'link'
        ? 'a hard link, which tar --hard-dereference packs as a file'
        : `not a regular file (${sparse ? 'sparse' : (type ?? 'of an unknown type')})`
    throw new ArchiveError('UnsafeArchive', `${quoted(path)} is ${what}: leave it out`)
  }
  const executable = (mode & 0o100) !== 0
  return { path, kind, executable, content, ...(kind === 'symlink' && { target: linkname ?? '' }) }
}

const kinds = new Map<Header['type'], ArchiveEntry['kind']>([
  ['file', 'file'],
  ['directory', 'directory'],
  ['symlink', 'symlink'],
])

const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown))

const damaged = (what: string, cause?: unknown): ArchiveError =>
  new ArchiveError('NotAnArchive', `the tar archive is damaged: ${what}. Build or fetch it again`, {
    cause,
  })

interface Filled {
  once(event: 'drain' | 'close', listener: () => void): unknown
  off(event: 'drain' | 'close', listener: () => void): unknown
}

/** Waits until a stream of tar-stream accepts more or is closed. */
export function drained(stream: Filled): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off('drain', go)
      stream.off('close', go)
      resolve()
    }
    stream.once('drain', go)
    stream.once('close', go)
  })
}
