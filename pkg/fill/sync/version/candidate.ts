import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { ReleaseDocument } from './release-documents.ts'

/** An archive that was fetched and checked, and lies in the spool. */
export interface Candidate {
  readonly file: SpoolFile
  /** Of the object that it becomes. */
  readonly fileName: string
  /** In hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  readonly contentDigest: string
  readonly revision: string
  /** Providers only: for lock files. */
  readonly hashes?: readonly string[]
  /** Providers only: what is stored beside the archive. */
  readonly release?: {
    readonly fileName: string
    readonly documents: readonly ReleaseDocument[]
    readonly keyFingerprint: string | undefined
    readonly isSigned: boolean
  }
}
