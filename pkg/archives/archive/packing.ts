import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { PassThrough, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack } from 'tar-stream'
import { ZipFile } from 'yazl'
import type { TreeFile } from './module-tree.ts'
import { drained } from './tar-reading.ts'

/** The bytes of a file. */
type Read = (file: TreeFile) => AsyncIterable<Uint8Array>

interface Packing {
  /** Sorted by the bytes of their paths. */
  readonly files: readonly TreeFile[]
  readonly read: Read
  readonly into: string
  readonly signal: AbortSignal | undefined
}

/** The earliest time of the format. `forceDosTimestamp` omits any other time. */
const earliest = new Date(1980, 0, 1)

/** Packs only names, modes and bytes, so the same files always give the same archive. */
export async function packZip({ files, read, into, signal }: Packing): Promise<Packed> {
  const zip = new ZipFile()
  const output = zip.outputStream.pipe(new PassThrough())
  const fail = (error: Error): PassThrough => output.destroy(error)
  zip.on('error', fail)
  let content: Readable | undefined
  for (const file of files) {
    const { path, sizeBytes: size } = file
    const mode = 0o100000 | modeOf(file)
    const options = { size, mode, mtime: earliest, forceDosTimestamp: true }
    zip.addReadStreamLazy(path, options, (give) => {
      content = Readable.from(read(file), { objectMode: false }).on('error', fail)
      give(null, content)
    })
  }
  zip.end()
  try {
    return await write(output, into, signal)
  } finally {
    content?.destroy()
  }
}

/** Packs a tar.gz, like `packZip`. */
export async function packTarGz({ files, read, into, signal }: Packing): Promise<Packed> {
  const tar = pack()
  const filling = fill().catch((error: unknown) =>
    tar.destroy(error instanceof Error ? error : new Error(String(error))),
  )
  const output = Readable.from(tar, { objectMode: false })
  const gzip = createGzip()
  output.on('error', (error) => gzip.destroy(error))
  try {
    return await write(output.pipe(gzip), into, signal)
  } finally {
    tar.destroy()
    output.destroy()
    await filling
  }

  async function fill(): Promise<void> {
    for (const file of files) {
      const { path: name, sizeBytes: size } = file
      const written = Promise.withResolvers<void>()
      tar.once('close', written.resolve)
      const entry = tar.entry({ name, size, mode: modeOf(file), mtime: new Date(0) }, (error) =>
        error ? tar.destroy(error) : written.resolve(),
      )
      for await (const chunk of read(file)) {
        if (tar.destroyed) return
        if (!entry.write(chunk)) await drained(entry)
      }
      entry.end(null)
      await written.promise
      tar.off('close', written.resolve)
    }
    tar.finalize()
  }
}

/** Packs a few files that are in memory. */
export function packFiles(
  contents: ReadonlyMap<string, Uint8Array>,
  into: string,
  signal?: AbortSignal,
): Promise<Packed> {
  const files = Array.from(contents, ([path, { length: sizeBytes }]) => {
    return { path, sizeBytes, start: 0, executable: false }
  }).toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const read = async function* ({ path }: TreeFile) {
    yield contents.get(path) ?? new Uint8Array()
  }
  return packZip({ files, read, into, signal })
}

const modeOf = ({ executable }: TreeFile): number => (executable ? 0o755 : 0o644)

interface Packed {
  readonly sha256: string
  readonly sizeBytes: number
}

async function write(source: Readable, into: string, signal?: AbortSignal): Promise<Packed> {
  const hash = createHash('sha256')
  let sizeBytes = 0
  const count = new Transform({
    transform(chunk: Buffer, _, done) {
      hash.update(chunk)
      sizeBytes += chunk.length
      done(null, chunk)
    },
  })
  try {
    await pipeline(source, count, createWriteStream(into, { flags: 'wx', mode: 0o600 }), {
      signal,
    })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST')
      await unlink(into).catch(() => undefined)
    throw error
  }
  return { sha256: hash.digest('hex'), sizeBytes }
}
