import type { ArchiveReading } from './entry.ts'
import { readArchive } from './reading.ts'

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
