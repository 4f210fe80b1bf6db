import { ArchiveError, quoted } from './archive-error.ts'
import { type ArchiveLimits, moduleLimits } from './limits.ts'
import { isConfiguration, moduleFiles, wrapperOf } from './module-tree.ts'
import { readTree } from './read-tree.ts'
import { formatOfFile } from './reading.ts'
import { Scratch } from './scratch.ts'

/**
 * Checks that CLIs can use the archive of a module unchanged. They unpack it by its format, and look for the module at its
 * root.
 *
 * @param options.format the format that CLIs are told
 * @param options.scratch path for scratch space, which is freed before the function returns
 * @returns whether the archive has a module at its root; otherwise it has some in `modules/`, which CLIs can use directly
 * @throws ArchiveError
 */
export async function inspectModule(options: {
  readonly file: string
  readonly format: 'zip' | 'tar.gz'
  readonly scratch: string
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
}): Promise<boolean> {
  const { file, format, limits = moduleLimits, signal } = options
  const reading = { file, limits, signal }
  const found = await formatOfFile(file, limits)
  if ((found === 'zip') !== (format === 'zip') || found === 'tar') {
    const actual = found === 'gzip' ? 'tar.gz' : found
    throw new ArchiveError(
      'NotAnArchive',
      `this is a ${actual}, and CLIs are told that it is a ${format}: name the file by its format, or pack it again`,
    )
  }
  const scratch = await Scratch.open(options.scratch)
  try {
    const { files } = await readTree(reading, scratch)
    if (files.some(({ path }) => isConfiguration(path))) return true
    if (files.some(({ path }) => /^modules\/[^/]+\/[^/]+\.(?:tf|tofu)(?:\.json)?$/.test(path)))
      return false
    moduleFiles(files, undefined)
    const wrapper = wrapperOf(files) ?? ''
    throw new ArchiveError(
      'NoModuleAtRoot',
      `all files are in the folder ${quoted(wrapper)}, and CLIs look at the root: pack the files without that folder, or use depot import, which removes it`,
    )
  } finally {
    await scratch.close()
  }
}
