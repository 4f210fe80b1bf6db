import { sortedByPath } from './content-digest.ts'
import type { ArchiveReading } from './entry.ts'
import { moduleFiles, type TreeFile } from './module-tree.ts'
import { readTree } from './read-tree.ts'
import { Scratch } from './scratch.ts'

/** The files of a module, readable until the work on them ends. */
export interface OpenModule {
  /** By path, below the root of the module. */
  readonly files: readonly TreeFile[]
  /** Number of excluded entries: `.git`, `.terraform` and state files. */
  readonly leftOut: number
  /** The bytes of a file, or only the first ones if its `sizeBytes` is reduced. */
  readonly read: (file: TreeFile) => AsyncGenerator<Buffer>
}

export interface ModuleReading extends ArchiveReading {
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
