import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { unlink } from 'node:fs/promises'
import { PassThrough, Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { pack as tarPack } from 'tar-stream'
import { ZipFile } from 'yazl'
import { type ArchiveLimits, type ArchiveReading, moduleLimits } from './entry.ts'
import { drained } from './tar-reading.ts'
import { moduleFiles, readTree, Scratch, type TreeFile } from './tree.ts'

/** The files of a module, readable until the work on them ends. */
export interface OpenModule {
  /** By path, below the root of the module. */
  readonly files: readonly TreeFile[]
  /** Number of excluded entries: `.git`, `.terraform` and state files. */
  readonly leftOut: number
  /** The bytes of a file, or only the first ones if its `sizeBytes` is reduced. */
  readonly read: (file: TreeFile) => AsyncGenerator<Buffer>
}

interface ModuleReading extends ArchiveReading {
  /** Path of the scratch file, which must not exist. It is freed before the function returns. */
  readonly scratch: string
  /** Directory of the module in the archive, with forward slashes; default: the root. */
  readonly path?: string | undefined
}

/**
 * Reads the archive of a module and works on its files.
 *
 * @throws ArchiveError, or what the work throws
 */
export async function withModuleFiles<T>(
  { scratch: scratchPath, path, ...reading }: ModuleReading,
  work: (module: OpenModule) => Promise<T>,
): Promise<T> {
  const scratch = await Scratch.open(scratchPath)
  try {
    const { files, leftOut } = await readTree(reading, scratch)
    const own = sortedByPath(moduleFiles(files, path))
    return await work({ files: own, leftOut, read: (file) => scratch.read(file) })
  } finally {
    await scratch.close()
  }
}

/** The format of a normalised module. */
export type ArchiveFormat = 'zip' | 'tar.gz'

/** Part of the key of an artifact. Change it whenever the same input may give other bytes. */
export const normaliserVersion = '1'

export interface NormaliseOptions {
  /** Path of the fetched archive (its bytes tell zip, tar and tar.gz apart), or of a folder. */
  readonly file: string
  /** Path of the new archive, which must not exist. Scratch space next to it is freed before the function returns. */
  readonly into: string
  readonly format: ArchiveFormat
  /** Directory of the module in the archive, with forward slashes; default: the root. */
  readonly path?: string | undefined
  /** Default: `moduleLimits`. */
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
  /** Reads the files of the module after they are packed. */
  readonly visit?: ((module: OpenModule) => Promise<void>) | undefined
}

export interface ModuleArchive {
  /** Path of the normalised archive, which is `into`. */
  readonly file: string
  /** Extension of the stored archive. */
  readonly extension: '.zip' | '.tar.gz'
  /** Digest of the normalised archive, in lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  /** `tree1:` and the base64 digest of files, modes and paths, which does not depend on the packing. */
  readonly contentDigest: string
  /** Number of excluded entries: `.git`, `.terraform` and state files. */
  readonly leftOut: number
}

/**
 * Reads the archive of a module and writes it again: sorted and without times and owners, so that the same files give the
 * same bytes everywhere.
 *
 * @throws ArchiveError
 */
export async function normaliseModule(options: NormaliseOptions): Promise<ModuleArchive> {
  const { file, into, format, path, limits = moduleLimits, signal, visit } = options
  signal?.throwIfAborted()
  const reading = { file, limits, signal, path, scratch: `${into}.scratch` }
  return withModuleFiles(reading, async ({ files, leftOut, read }) => {
    const digests = new Map<string, string>()
    /** Hashes files while they are packed. Refused files, and files outside of the module, are never hashed. */
    async function* hashed(each: TreeFile): AsyncGenerator<Buffer> {
      const hash = createHash('sha256')
      for await (const chunk of read(each)) {
        hash.update(chunk)
        yield chunk
      }
      digests.set(each.path, hash.digest('hex'))
    }
    const digested = (each: TreeFile) => {
      const sha256 = digests.get(each.path)
      if (sha256 === undefined) throw new Error('a file was not packed')
      return { ...each, sha256 }
    }
    const pack = format === 'zip' ? packZip : packTarGz
    const packed = await pack({ files, read: hashed, into, signal })
    await visit?.({ files, leftOut, read })
    return {
      file: into,
      extension: format === 'zip' ? '.zip' : '.tar.gz',
      ...packed,
      contentDigest: treeDigest(files.map(digested)),
      leftOut,
    }
  })
}

interface DigestedFile {
  readonly path: string
  /** Digest of the content, in lower-case hexadecimal. */
  readonly sha256: string
}

/** Sorts by the bytes of UTF-8. JavaScript compares strings in another order. */
function sortedByPath<File extends { readonly path: string }>(files: readonly File[]): File[] {
  // One character for each byte, so that strings sort like their bytes.
  const keyed = files.map((file) => ({ file, key: Buffer.from(file.path).toString('latin1') }))
  keyed.sort((a, b) => (a.key < b.key ? -1 : Number(a.key > b.key)))
  return keyed.map(({ file }) => file)
}

/** Digest of files, modes and paths, independent of the packing. */
function treeDigest(files: readonly (DigestedFile & { executable: boolean })[]): string {
  const lines = sortedByPath(files).map(
    ({ sha256, executable, path }) => `${sha256}  ${executable ? 'x' : '-'}  ${path}\n`,
  )
  return `tree1:${base64(lines)}`
}

/** The digest of a package in lock files, as the CLIs compute it (golang.org/x/mod/sumdb/dirhash, Hash1). */
export function packageDigest(files: readonly DigestedFile[]): string {
  const lines = sortedByPath(files).map(({ sha256, path }) => `${sha256}  ${path}\n`)
  return `h1:${base64(lines)}`
}

function base64(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('')).digest('base64')
}

const cutNote = (maxBytes: number): string =>
  `\n\n*The rest of this README is left out: it has more than ${maxBytes / 1024} KiB.*\n`

/**
 * Finds the README of a folder. Markdown is preferred.
 *
 * @param files directly in the folder
 */
export async function readmeOf<File extends { readonly path: string; readonly sizeBytes: number }>(
  files: readonly File[],
  read: (file: File) => AsyncIterable<Uint8Array>,
  maxBytes: number,
): Promise<{ path: string; text: string } | undefined> {
  const found = sortedByPath(files.filter(({ path }) => /(?:^|\/)readme[^/]*$/i.test(path)))
  const file = found.find(isMarkdown) ?? found[0]
  if (file === undefined) return undefined
  const cut = file.sizeBytes > maxBytes
  const chunks: Uint8Array[] = []
  for await (const chunk of read({ ...file, sizeBytes: Math.min(file.sizeBytes, maxBytes) })) {
    chunks.push(chunk)
  }
  // Drops a character that was cut at the end.
  const text = new TextDecoder().decode(Buffer.concat(chunks), { stream: cut })
  return { path: file.path, text: cut ? text + cutNote(maxBytes) : text }
}

const isMarkdown = ({ path }: { readonly path: string }): boolean => /\.md$/i.test(path)

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
async function packTarGz({ files, read, into, signal }: Packing): Promise<Packed> {
  const tar = tarPack()
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
