import { constants, type Stats } from 'node:fs'
import { lstat, open, readdir, readlink, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type ArchiveEntry,
  ArchiveError,
  type ArchiveLimits,
  type ArchiveReading,
  checkEntries,
  checkPacked,
  checkUnpacked,
  entryPath,
  quoted,
} from './entry.ts'
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

/**
 * Lists the entries of a folder, as an archive of it would have them. Folders that never belong to a module are skipped: a
 * `.terraform` may contain gigabytes.
 *
 * @throws ArchiveError from the iteration
 */
async function* readFolder({
  file: folder,
  limits,
  signal,
}: ArchiveReading): AsyncGenerator<ArchiveEntry> {
  let count = 0
  let sizeBytes = 0
  const pending = ['']
  for (let below = pending.pop(); below !== undefined; below = pending.pop()) {
    for (const name of await readdir(join(folder, below))) {
      signal?.throwIfAborted()
      checkEntries(++count, limits)
      const path = entryPath(below === '' ? name : `${below}/${name}`, limits.pathBytes)
      const stats = await lstat(join(folder, path))
      if (stats.isDirectory() && !isLeftOut(path)) pending.push(path)
      if (stats.isFile() && !isLeftOut(path)) sizeBytes += stats.size
      checkUnpacked(sizeBytes, sizeBytes, limits)
      yield await entryOf(folder, path, stats, signal)
    }
  }
}

async function entryOf(
  folder: string,
  path: string,
  stats: Stats,
  signal: AbortSignal | undefined,
): Promise<ArchiveEntry> {
  const at = join(folder, path)
  const executable = (stats.mode & constants.S_IXUSR) !== 0
  if (stats.isDirectory()) return { path, kind: 'directory', executable, content: nothing() }
  if (stats.isSymbolicLink()) {
    const target = await readlink(at)
    return { path, kind: 'symlink', executable, target, content: nothing() }
  }
  if (stats.isFile()) return { path, kind: 'file', executable, content: contentOf(at, signal) }
  throw new ArchiveError('UnsafeArchive', `${quoted(path)} is not a regular file: leave it out`)
}

/** The file is opened when it is read, not when it is listed. A link that replaced it meanwhile is not followed. */
async function* contentOf(path: string, signal: AbortSignal | undefined): AsyncGenerator<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  for await (const chunk of file.createReadStream({ signal })) yield chunk as Buffer
}

async function* nothing(): AsyncGenerator<Buffer> {}

/**
 * Files of a repository or working directory that are not part of the module: history, installed modules and providers,
 * states.
 */
export function isLeftOut(path: string): boolean {
  return path
    .toLowerCase()
    .split('/')
    .some((part) => part === '.git' || part === '.terraform' || part.includes('.tfstate'))
}

const looksSecret = (name: string): boolean =>
  name === '.env' || name === '.terraform' || /\.pem$|\.tfstate(?:\.|$)/.test(name)

/**
 * Finds files that people publish by mistake: keys, states and settings of an environment.
 *
 * @returns their paths; for a folder of such files, its path with a `/` at the end
 * @throws ArchiveError
 */
export async function secretFilesIn(reading: ArchiveReading): Promise<string[]> {
  const found = new Set<string>()
  for await (const { path, kind } of await readArchive(reading)) {
    const parts = path.split('/')
    const at = parts.findIndex((part) => looksSecret(part.toLowerCase()))
    if (at === -1) continue
    const isFolder = at < parts.length - 1 || kind === 'directory'
    found.add(`${parts.slice(0, at + 1).join('/')}${isFolder ? '/' : ''}`)
  }
  return [...found].toSorted()
}
