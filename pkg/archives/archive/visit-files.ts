import type { ArchiveReading } from './entry.ts'
import type { FileVisitor } from './inspect-provider.ts'
import { wrapperOf } from './module-tree.ts'
import { readArchive } from './reading.ts'

/**
 * Reads the files of an archive that a visitor wants. Links are skipped.
 *
 * @param visit called with each path, without a directory that wraps all files
 * @param directory of the archive to read, below that; default: its root
 * @throws ArchiveError, or what the visitor throws
 */
export async function visitFiles(
  reading: ArchiveReading,
  visit: FileVisitor,
  directory = '',
): Promise<void> {
  const files: { readonly path: string }[] = []
  for await (const { path, kind } of await readArchive(reading)) {
    if (kind !== 'directory') files.push({ path })
  }
  const parts = [wrapperOf(files) ?? '', ...directory.split('/')]
  const prefix = parts.flatMap((part) => (part === '' || part === '.' ? [] : [`${part}/`])).join('')
  for await (const { path, kind, content } of await readArchive(reading)) {
    if (kind !== 'file' || !path.startsWith(prefix)) continue
    const take = visit(path.slice(prefix.length))
    if (take !== undefined) for await (const chunk of content) take(chunk)
  }
}
