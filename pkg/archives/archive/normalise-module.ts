import { createHash } from 'node:crypto'
import { treeDigest } from './content-digest.ts'
import { type ArchiveLimits, moduleLimits } from './limits.ts'
import { type OpenModule, withModuleFiles } from './module-files.ts'
import type { TreeFile } from './module-tree.ts'
import { packTarGz, packZip } from './packing.ts'

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
