import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Turns } from '../../base/pacing/pacing.ts'
import { type ArchiveEntry, type ArchiveReading, checkDistinct } from './entry.ts'
import { ArchiveError, type ArchiveLimits, checkUnpacked, quoted } from './limits.ts'
import { isLeftOut, resolveLinks, type TreeFile, type TreeLink } from './module-tree.ts'
import { readArchive } from './reading.ts'
import { Scratch } from './scratch.ts'

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
