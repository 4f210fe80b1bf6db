import type { ArchiveLimits } from './limits.ts'

/** One entry of an archive, as its reader gives it; its name is checked and clean. */
export interface ArchiveEntry {
  /** Segments joined by `/`; empty for the root itself. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink'
  readonly executable: boolean
  /** What a symbolic link of a tar points to; that of a zip is its content. */
  readonly target?: string | undefined
  /** The bytes, once; what is not read is skipped when the next entry is asked for. */
  readonly content: AsyncIterable<Uint8Array>
}

/** How an archive is read, whatever its format. */
export interface ArchiveReading {
  readonly file: string
  readonly limits: ArchiveLimits
  readonly signal?: AbortSignal | undefined
}
