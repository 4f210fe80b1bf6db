import { createReadStream } from 'node:fs'
import { lstat, readdir, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ModuleDocs } from '../../api/docs/docs.ts'
import { defaultLimits, withModuleFiles } from '../archive/archive.ts'
import { configurationFiles } from './configuration-files.ts'
import { readModuleDocs } from './read-docs.ts'

/**
 * Reads the documentation of a module on the file system.
 *
 * @param path of a folder, or of an archive: zip, tar or tar.gz
 * @param within the folder of the module in the archive; default: the root
 * @throws ArchiveError, an error of the file system, or Error for a folder without configuration
 */
export async function openModuleDocs(path: string, within?: string): Promise<ModuleDocs> {
  if ((await stat(path)).isDirectory()) return docsOfFolder(path)
  const scratch = join(tmpdir(), `depot-docs-${crypto.randomUUID()}`)
  const reading = { file: path, path: within, limits: defaultLimits.module, scratch }
  return withModuleFiles(reading, ({ files, read }) => readModuleDocs(files, read))
}

/** Lists only folders with documentation, so that `.terraform` costs nothing. */
async function docsOfFolder(folder: string): Promise<ModuleDocs> {
  const parents = await Promise.all(['modules', 'examples'].map((name) => childrenOf(folder, name)))
  const paths = ['', ...parents.flat()]
  const files = await Promise.all(paths.map((path) => filesOf(folder, path)))
  // Otherwise, a wrong folder would look like a module without inputs and outputs.
  if (!files.some((group) => configurationFiles(group.map(({ name }) => name)).length > 0)) {
    throw new Error('it has no configuration: name the folder of a module')
  }
  return readModuleDocs(files.flat(), ({ path, sizeBytes }) =>
    createReadStream(join(folder, path), { end: Math.max(sizeBytes - 1, 0) }),
  )
}

async function childrenOf(folder: string, parent: string): Promise<string[]> {
  const entries = await readdir(join(folder, parent), { withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => `${parent}/${name}`)
}

async function filesOf(folder: string, path: string) {
  const names = await readdir(join(folder, path))
  const files = await Promise.all(
    names.map(async (name) => {
      const below = path === '' ? name : `${path}/${name}`
      const found = await lstat(join(folder, below))
      return found.isFile() ? [{ name, path: below, sizeBytes: found.size }] : []
    }),
  )
  return files.flat()
}
