import { Turns } from '../../base/pacing/pacing.ts'
import { ArchiveError, quoted } from './archive-error.ts'
import { checkDistinct } from './distinct-paths.ts'
import type { ArchiveEntry, ArchiveReading } from './entry.ts'
import { type ArchiveLimits, checkUnpacked } from './limits.ts'
import { isLeftOut, resolveLinks, type TreeFile, type TreeLink } from './module-tree.ts'
import { readArchive } from './reading.ts'
import type { Scratch } from './scratch.ts'

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
