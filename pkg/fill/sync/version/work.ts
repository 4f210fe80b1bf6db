import type { Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { PackedDocs } from '../../../archives/docs/docs.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { OtherContent } from '../context.ts'
import type { SyncRequest } from '../requests.ts'
import type { StatusChange } from '../status.ts'

export type VersionStatus = NonNullable<Version['status']>

export function versionStatus({ status }: StoredObject): VersionStatus {
  return status ?? {}
}

/** Whether a Version refuses the content that upstream has, until it is deleted. */
export function isRefusing(version: StoredObject): boolean {
  const { drift, synced } = versionStatus(version)
  return drift !== undefined && synced !== true
}

/** The work on one Version. */
export interface VersionWork {
  readonly object: StoredObject
  readonly version: Version
  readonly attempt: SyncAttempt
  readonly signal: AbortSignal
}

/** Facts that the work finds out as it goes, for the status of a failure. */
export interface SyncAttempt {
  /** Digest of the source, and of the options that decide whether an archive is accepted. */
  key?: string
  revision?: string
  request?: SyncRequest | undefined
  /** The stored archive was found missing or altered. */
  isLost?: boolean
  /** Other content that upstream was seen to have. Only the next poll would notice that again. */
  outdated?: OtherContent | undefined
  /** The comparison for which the archive was refused. */
  comparison?: StatusChange<VersionStatus>
}

/** A document of an upstream release, which is stored next to its archives. */
export interface ReleaseDocument {
  readonly field: 'shasums' | 'signature' | 'keys'
  readonly fileName: string
  readonly bytes: Buffer
}

/** An archive in the spool that was fetched and checked. */
export interface Candidate {
  readonly file: SpoolFile
  /** Name of the object that it becomes. */
  readonly fileName: string
  /** In hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  readonly contentDigest: string
  readonly revision: string
  /** Undefined if it could not be made, or if the archive of a provider contains none. */
  readonly docs?: PackedDocs | undefined
  /** Providers only: hashes for lock files. */
  readonly hashes?: readonly string[]
  /** Providers only: documents that are stored next to the archive. */
  readonly release?: {
    readonly fileName: string
    readonly documents: readonly ReleaseDocument[]
    readonly keyFingerprint: string | undefined
    readonly isSigned: boolean
  }
}
