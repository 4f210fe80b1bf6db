import { ArchiveError } from './archive-error.ts'
import type { ArchiveLimits } from './limits.ts'

/** What a normalised module is packed as. */
export type ArchiveFormat = 'zip' | 'tar.gz'

/** Part of what names the content of an artifact: changes whenever the same input may give other bytes. */
export const normaliserVersion = '1'

export interface NormaliseOptions {
  /** Path of the archive as it was fetched. What it is, zip, tar or tar.gz, is found from its bytes. */
  readonly file: string
  /** Path of the archive to be written; there must be nothing. Scratch space beside it is freed before this answers. */
  readonly into: string
  readonly format: ArchiveFormat
  /** Directory of the module inside of the archive, with forward slashes; default: its root. */
  readonly path?: string | undefined
  /** Default: `moduleLimits`. */
  readonly limits?: ArchiveLimits | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ModuleArchive {
  /** Path of the normalised archive, which is `into`. */
  readonly file: string
  /** How the name of the stored archive ends. */
  readonly extension: '.zip' | '.tar.gz'
  /** Of the normalised archive, in lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  /** `tree1:` and the base64 digest of files, modes and paths; the same however they were packed. */
  readonly contentDigest: string
  /** Entries that were left out: `.git`, `.terraform` and state files. */
  readonly leftOut: number
  /** The README at the root of the module, cut after 512 KiB; absent where there is none. */
  readonly readme?: { readonly path: string; readonly text: string }
}

/**
 * Reads the archive of a module and writes it again: sorted, without times and owners, so that the same files give the
 * same bytes anywhere.
 *
 * @throws ArchiveError
 */
export function normaliseModule(options: NormaliseOptions): Promise<ModuleArchive> {
  return Promise.reject(new ArchiveError('NotAnArchive', `cannot read ${options.format} yet`))
}
