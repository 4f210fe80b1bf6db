import type { ArchiveLimits } from './limits.ts'

/** One entry of an archive, with a checked name. */
export interface ArchiveEntry {
  /** Segments joined by `/`; empty for the root itself. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'symlink'
  readonly executable: boolean
  /** The target of a symbolic link in a tar. In a zip, the target is the content. */
  readonly target?: string | undefined
  /** The bytes, readable once. The next entry skips unread bytes. */
  readonly content: AsyncIterable<Uint8Array>
}

/** An archive to read, of any format, or a folder. */
export interface ArchiveReading {
  readonly file: string
  readonly limits: ArchiveLimits
  readonly signal?: AbortSignal | undefined
}
