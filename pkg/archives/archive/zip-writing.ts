import { Readable } from 'node:stream'
import { crc32, createDeflateRaw, deflateRawSync } from 'node:zlib'
import { Turns } from '../../base/pacing/pacing.ts'
import * as records from './zip-records.ts'

/** A file to pack. */
export interface ZipFile {
  readonly path: string
  readonly executable: boolean
  readonly sizeBytes: number
}

/** Files up to this size are deflated in one call: a stream costs far more than the work. */
const smallBytes = 256 * 1024
/** Bytes that are collected before they are passed on. */
const chunkBytes = 256 * 1024
/** Another level would give other bytes for the same files. */
const level = 6

/**
 * Writes a zip in pieces of at least 256 KiB. The bytes are those that yazl writes for streams: sizes and CRC follow each
 * file, and there are no times. A module is always too small for zip64.
 *
 * @throws RangeError for 65,535 files or 4 GiB
 */
export async function* zipBytes<File extends ZipFile>(
  files: readonly File[],
  read: (file: File) => AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  if (files.length >= 0xffff) throw new RangeError(`a zip holds 65,534 files, not ${files.length}`)
  const turns = new Turns()
  const gathered = new Gathered()
  const directory: Buffer[] = []
  for (const file of files) {
    const start = gathered.position
    const name = Buffer.from(file.path)
    gathered.add(records.fileHeader(name))
    const packedStart = gathered.position
    let sum = 0
    let sizeBytes = 0
    const count = (chunk: Uint8Array): void => {
      sum = crc32(chunk, sum)
      sizeBytes += chunk.length
    }
    if (file.sizeBytes <= smallBytes) {
      const chunks = []
      for await (const chunk of read(file)) chunks.push(chunk)
      const [first = Buffer.alloc(0)] = chunks
      const content = chunks.length > 1 ? Buffer.concat(chunks) : first
      count(content)
      // The default buffer for each file would be work for the garbage collector.
      const chunkSize = Math.max(256, content.length)
      gathered.add(deflateRawSync(content, { level, chunkSize }))
    } else {
      for await (const chunk of deflated(read(file), count)) {
        gathered.add(chunk)
        if (gathered.isEnough) yield gathered.take()
      }
    }
    if (sizeBytes !== file.sizeBytes) throw new Error('a file changed while it was packed')
    const sizes = { sum, packedBytes: gathered.position - packedStart, sizeBytes }
    gathered.add(records.descriptor(sizes))
    directory.push(records.directoryRecord(name, { ...sizes, start, executable: file.executable }))
    if (gathered.isEnough) yield gathered.take()
    await turns.yieldIfDue()
  }
  const start = gathered.position
  for (const record of directory) gathered.add(record)
  gathered.add(
    records.directoryEnd({ files: files.length, start, sizeBytes: gathered.position - start }),
  )
  yield gathered.take()
}

async function* deflated(
  content: AsyncIterable<Uint8Array>,
  onChunk: (chunk: Uint8Array) => void,
): AsyncGenerator<Buffer> {
  const source = Readable.from(content, { objectMode: false }).on('data', onChunk)
  const deflate = createDeflateRaw({ level })
  source.on('error', (error) => deflate.destroy(error))
  try {
    yield* source.pipe(deflate) as AsyncIterable<Buffer>
  } finally {
    source.destroy()
    deflate.destroy()
  }
}

/** Collects small pieces into large ones. */
class Gathered {
  #pieces: Buffer[] = []
  #bytes = 0
  /** Total number of bytes. */
  position = 0

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    this.position += piece.length
  }

  get isEnough(): boolean {
    return this.#bytes >= chunkBytes
  }

  take(): Buffer {
    const taken = Buffer.concat(this.#pieces)
    this.#pieces = []
    this.#bytes = 0
    return taken
  }
}
