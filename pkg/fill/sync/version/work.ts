/** Contracts of the work on one Version, and facts that its status tells. Imports no reconciler and no context. */

import {
  type Artifact,
  docsFileName,
  type StorageConfig,
  sourceFileOf,
  type Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { PackedDocs } from '../../../archives/docs/docs.ts'
import type { SpoolFile } from '../../../archives/spool/spool.ts'
import type { ArchivePlace } from '../../../archives/storage/storage.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { FetchOptions, UpstreamOptions } from '../../sources/sources.ts'
import type { StatusChange } from '../status.ts'

export type VersionStatus = NonNullable<Version['status']>

/** The fields of a status that tell of its README. */
export type ReadmeFields = Pick<
  VersionStatus,
  'readmeConfigMapRef' | 'interfaceConfigMapRef' | 'readmeDocs'
>

export function versionStatus({ status }: StoredObject): VersionStatus {
  return status ?? {}
}

/** Whether the Version has an archive in storage. */
export function isStored(child: StoredObject): boolean {
  return (
    child.metadata.deletionTimestamp === undefined && versionStatus(child).artifact !== undefined
  )
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

/** Other content than the stored one, as an upstream announces it. */
export interface OtherContent {
  /** Digest of its archive, if the list names it. */
  readonly contentDigest?: string
  /** The place that announced it, without credentials. */
  readonly from?: string
  /** Whether the policy of the Depot does not let it in yet. */
  readonly isHeld?: boolean
}

/** A sync that a person requested although nothing changed. */
export interface SyncRequest {
  readonly forced: boolean
  /** Value of the annotation to handle. */
  readonly annotation: string | undefined
}

/** The go.mod and go.sum of a version, packed, or why there are none. */
export type SourceFiles = { readonly revision: string } & (
  | { readonly bytes: Buffer; readonly sha256: string }
  | { readonly problem: string }
)

/**
 * The stored version whose callers expect that another one does not break them: the one before it of the same major version.
 * `awaited`: that one is still to be stored. Undefined: there is none, or the number promises nothing, as before 1.0.0.
 */
export type Earlier = StoredObject | 'awaited' | undefined

/** Whether upstream's current archive may replace the stored one. */
export type ReplacePolicy = 'never' | 'ask' | 'follow'

/** A place of archives. */
export interface StoragePlace {
  readonly storage: StorageConfig
  /** Name of the module or provider in storage. */
  readonly configName: string
  readonly place: ArchivePlace
  /** Names the place, whatever its other settings. */
  readonly placeId: string
}

/** The place that the spec of a Version names. */
export interface PlacedVersion extends StoragePlace {
  /** Without a leading `v`. */
  readonly version: string
  readonly parent: StoredObject | undefined
}

/** The source of a Version's archive, and the rules for replacing the archive. */
export interface VersionPlan extends PlacedVersion {
  readonly type: Version['spec']['type']
  readonly policy: ReplacePolicy
  /** Digest of everything that the archive is made from, except for upstream's current content. */
  readonly sourceKey: string
  /** Host and path of the source, as policies name it. */
  readonly address: string
  /** The same for an archive in another place. */
  keyIn(placed: StoragePlace): string
  /** The host that is asked first; upstream may name others. */
  readonly host: string
  /** Asks upstream, which verifies the signature of a provider's checksums. @throws FillError */
  ask(options: UpstreamOptions): Promise<UpstreamOffer>
}

/** The current content of an upstream. */
export interface UpstreamOffer {
  readonly revision: string
  /** Place of the archive, without credentials. */
  readonly from: string
  /** Names the content as a list of its Depot does; undefined if lists cannot. @throws FillError */
  mark(options: UpstreamOptions): Promise<string | undefined>
  /** @throws FillError SigningKeyChanged, or RuleRefused if a rule refuses its signer */
  requireTrust(): void
  fetch(options: FetchOptions): Promise<Candidate>
}

export interface StoredState {
  readonly state: 'whole' | 'lost'
  /** Whether storage was asked. */
  readonly isChecked: boolean
  /** Times of the checks, for the artifact; empty if no check was due. */
  readonly seen: { readonly verifiedAt?: string; readonly rehashedAt?: string }
}

/** The stored archive of a Version, compared with its spec. */
export interface Situation {
  readonly from: StoragePlace
  readonly stored: StoredState
  readonly isStored: boolean
  /** Whether the archive is in another place than the spec names. */
  readonly isElsewhere: boolean
  /** Whether the archive was made from the source that the spec names. */
  readonly isOfSource: boolean
  /** Whether the archive is the wanted one, wherever it is. */
  readonly isCurrent: boolean
  readonly isLost: boolean
  /** Whether the archive stays if upstream has no other content. */
  readonly isKept: boolean
}

/** The archive of a status, and what is stored next to it. */
export function filesIn({
  artifact,
  release,
}: Pick<VersionStatus, 'artifact' | 'release'> = {}): string[] {
  const { shasums, signature, keys } = release ?? {}
  const extras = [docsIn(artifact), sourceFileOf(artifact)]
  return [artifact?.fileName, ...extras, shasums, signature, keys].filter(
    (file) => file !== undefined,
  )
}

/** The name of the documentation of a stored archive; undefined if it has none. */
export function docsIn({ fileName, sha256, docs }: Artifact = {}): string | undefined {
  if (docs === undefined || fileName === undefined || sha256 === undefined) return undefined
  return docsFileName(fileName, sha256)
}

/**
 * Lists the objects in storage that a Version has put there or still needs. Depot stores no name with a folder in it: such a
 * name was written by somebody else, and would reach into the place of a module whose folder is below this one.
 */
export function namesOf(object: StoredObject): string[] {
  const status = versionStatus(object)
  const replaced = (status.replaced ?? []).map(({ fileName }) => fileName)
  return [...filesIn(status), ...replaced].filter((file) => !file.includes('/'))
}

export const isModuleVersion = ({ spec }: StoredObject): boolean =>
  (spec as { readonly type?: string }).type === 'Module'

/** Whether the archive of a Version stays when the Version is deleted: an annotation says so, or a person stored it. */
export function leavesArchive(
  { apiGroup }: { readonly apiGroup: string },
  object: StoredObject,
): boolean {
  const isStoredByHand = versionStatus(object).artifact?.sourceKey === undefined
  return isStoredByHand || object.metadata.annotations[`${apiGroup}/orphan-archive`] === 'true'
}
