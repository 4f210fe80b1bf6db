import { type FileHandle, mkdir, open, unlink, writeFile } from 'node:fs/promises'
import { dirname, join, posix } from 'node:path'
import { Turns } from '../../base/pacing/pacing.ts'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  type ArchiveReading,
  checkDistinct,
  checkUnpacked,
  quoted,
} from './entry.ts'
import { isLeftOut, readArchive } from './reading.ts'

const chunkBytes = 256 * 1024

/** Part of the scratch file. */
interface Extent {
  readonly start: number
  readonly sizeBytes: number
}

/**
 * Keeps the content of an archive in a single unlinked file while it is inspected. So names from an archive never reach the
 * file system, and nothing is left after a kill. Small files are written together, because a module may have thousands.
 */
export class Scratch {
  readonly #file: FileHandle
  #end = 0
  /** Bytes at the end that are not written yet. */
  readonly #pending = Buffer.allocUnsafeSlow(chunkBytes)
  #pendingBytes = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<Scratch> {
    const file = await open(path, 'wx+', 0o600)
    await unlink(path)
    return new Scratch(file)
  }

  async append(content: AsyncIterable<Uint8Array>): Promise<Extent> {
    const start = this.#end
    for await (const chunk of content) {
      if (this.#pendingBytes + chunk.length > chunkBytes) await this.#flush()
      if (chunk.length > chunkBytes) await this.#file.appendFile(chunk)
      else {
        this.#pending.set(chunk, this.#pendingBytes)
        this.#pendingBytes += chunk.length
      }
      this.#end += chunk.length
    }
    return { start, sizeBytes: this.#end - start }
  }

  async *read({ start, sizeBytes }: Extent): AsyncGenerator<Buffer> {
    await this.#flush()
    for (let at = 0; at < sizeBytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - at))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, start + at)
      if (bytesRead === 0) throw new Error('the scratch file was cut')
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  async #flush(): Promise<void> {
    if (this.#pendingBytes === 0) return
    await this.#file.appendFile(this.#pending.subarray(0, this.#pendingBytes))
    this.#pendingBytes = 0
  }
}

/** A file of an archive. Its bytes are in the scratch file. */
export interface TreeFile extends Extent {
  readonly path: string
  readonly executable: boolean
}

interface TreeLink {
  readonly path: string
  readonly target: string
}

const maxLinks = 10

/**
 * Replaces every link by a copy of its target.
 *
 * @throws ArchiveError UnsafeArchive if a link leads out of the archive, to a directory, in a circle or to nothing
 */
function resolveLinks(files: readonly TreeFile[], links: readonly TreeLink[]): TreeFile[] {
  const fileAt = new Map(files.map((file) => [file.path, file]))
  const linkAt = new Map(links.map((link) => [link.path, link]))
  const copies = links.map((link) => {
    let at: TreeLink | undefined = link
    for (let followed = 0; followed < maxLinks; followed += 1) {
      const path = targetOf(at)
      const file = fileAt.get(path)
      if (file !== undefined) return { ...file, path: link.path }
      at = linkAt.get(path)
      if (at === undefined) throw unusable(link, 'which is not a file of this archive')
    }
    throw unusable(link, 'and on, through more than 10 links')
  })
  return [...files, ...copies]
}

function targetOf(link: TreeLink): string {
  const { path, target } = link
  const joined = posix.join(posix.dirname(path), target)
  const outside =
    target === '' || target.startsWith('/') || joined === '..' || joined.startsWith('../')
  if (outside || target.includes('\\')) throw unusable(link, 'which is outside of the archive')
  return joined
}

const unusable = ({ path, target }: TreeLink, why: string): ArchiveError =>
  new ArchiveError(
    'UnsafeArchive',
    `the link ${quoted(path)} leads to ${quoted(target)}, ${why}: replace it by the file`,
  )

/**
 * Selects the files of the module: without a directory that wraps all of them, and only below a path.
 *
 * @throws ArchiveError NoModuleAtRoot
 */
export function moduleFiles(files: readonly TreeFile[], path: string | undefined): TreeFile[] {
  const unwrapped = withoutWrapper(files)
  const directory = (path ?? '')
    .split('/')
    .filter((part) => part !== '' && part !== '.')
    .join('/')
  const found = directory === '' ? unwrapped : below(unwrapped, directory)
  if (found.some((file) => isConfiguration(file.path))) return found
  // The path may name the wrapping directory, as addresses in registries do.
  const inWrapper = directory === '' ? [] : below(files, directory)
  if (inWrapper.some((file) => isConfiguration(file.path))) return inWrapper
  const where = directory === '' ? 'at the root of the archive' : `in ${quoted(directory)}`
  throw new ArchiveError(
    'NoModuleAtRoot',
    `there is no *.tf or *.tofu file ${where}: ${adviceFor(unwrapped, directory)}`,
  )
}

function withoutWrapper(files: readonly TreeFile[]): TreeFile[] {
  const wrapper = wrapperOf(files)
  return wrapper === undefined ? [...files] : below(files, wrapper)
}

/** The directory that contains all files; undefined if there is none. */
export function wrapperOf(files: readonly Pick<TreeFile, 'path'>[]): string | undefined {
  const [first] = files
  const wrapper = first?.path.includes('/') ? first.path.split('/')[0] : undefined
  if (wrapper === undefined || wrapper === '') return undefined
  return files.every((file) => file.path.startsWith(`${wrapper}/`)) ? wrapper : undefined
}

const below = (files: readonly TreeFile[], directory: string): TreeFile[] =>
  files
    .filter((file) => file.path.startsWith(`${directory}/`))
    .map((file) => ({ ...file, path: file.path.slice(directory.length + 1) }))

export const isConfiguration = (name: string): boolean =>
  /^[^/]+\.(?:tf|tofu)(?:\.json)?$/.test(name)

/** @param named the path where the module was expected; empty without one */
function adviceFor(files: readonly TreeFile[], named: string): string {
  const directories = files
    .filter(({ path }) => isConfiguration(posix.basename(path)))
    .map(({ path }) => posix.dirname(path))
  const [first, ...others] = Array.from(new Set(directories)).toSorted()
  if (first === undefined) {
    return 'there is none anywhere in it: name the folder or the repository of a module'
  }
  const more = others.length > 0 ? ` or ${quoted(others[0] ?? '')}` : ''
  const what =
    named === ''
      ? 'publish a directory that has one, or set the path of the source to it,'
      : 'set the path of the source to a directory that has one,'
  return `${what} such as ${quoted(first)}${more}`
}

/** The files of an archive, with links replaced by their targets and the content in the scratch file. */
export async function readTree(
  reading: ArchiveReading,
  scratch: Scratch,
): Promise<{ files: TreeFile[]; leftOut: number }> {
  const { limits } = reading
  const seen: Pick<ArchiveEntry, 'path' | 'kind'>[] = []
  const files: TreeFile[] = []
  const links: TreeLink[] = []
  let leftOut = 0
  const turns = new Turns()
  for await (const entry of await readArchive(reading)) {
    await turns.yieldIfDue()
    const { path, kind, executable } = entry
    if (path === '') {
      if (kind !== 'directory') throw noName()
      continue
    }
    seen.push({ path, kind })
    if (isLeftOut(path)) {
      if (kind !== 'directory') leftOut += 1
    } else if (kind === 'symlink') {
      links.push({ path, target: entry.target ?? (await targetIn(entry, limits)) })
    } else if (kind === 'file') {
      files.push({ path, executable, ...(await scratch.append(entry.content)) })
    }
  }
  checkDistinct(seen)
  const resolved = resolveLinks(files, links)
  const sizeBytes = resolved.reduce((sum, file) => sum + file.sizeBytes, 0)
  // Copies for links count in full. They have no packed size, so there is no ratio.
  checkUnpacked(sizeBytes, sizeBytes, limits)
  return { files: resolved, leftOut }
}

/** The target of a symbolic link in a zip. */
async function targetIn(
  { path, content }: ArchiveEntry,
  { pathBytes }: ArchiveLimits,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let sizeBytes = 0
  for await (const chunk of content) {
    chunks.push(chunk)
    sizeBytes += chunk.length
    if (sizeBytes > pathBytes) {
      throw new ArchiveError(
        'UnsafeArchive',
        `the link ${quoted(path)} leads to a name that is too long`,
      )
    }
  }
  return Buffer.concat(chunks).toString()
}

const noName = () => new ArchiveError('UnsafeArchive', 'the archive has a file without a name')

interface Unpacking extends ArchiveReading {
  /** Path of the scratch file, which must not exist. It is freed before the function returns. */
  readonly scratch: string
  /** An empty folder that no other process writes to. */
  readonly into: string
  /** Mode of every file. */
  readonly mode: number
}

/**
 * Unpacks an archive for a program that reads folders. The names of its files are checked before the first is written, and
 * links become copies, so nothing is written outside of the folder.
 *
 * @throws ArchiveError
 */
export async function unpack({ scratch: path, into, mode, ...reading }: Unpacking): Promise<void> {
  const scratch = await Scratch.open(path)
  try {
    const { files } = await readTree(reading, scratch)
    for (const file of files) {
      reading.signal?.throwIfAborted()
      const target = join(into, file.path)
      await mkdir(dirname(target), { recursive: true, mode: 0o700 })
      await writeFile(target, scratch.read(file), { flag: 'wx', mode })
    }
  } finally {
    await scratch.close()
  }
}
