import type { Condition } from '../../api/v1alpha1/v1alpha1.ts'

/** Every reason of a condition, and what it means. The reference is made from this table. */
export const reasons = {
  Synced: 'Everything is stored and served as the spec says.',
  Suspended: 'spec.suspend is set.',
  Progressing: 'Work goes on.',
  WaitingForSpool: 'There is no room in the spool at this moment.',
  RateLimited: 'The upstream asks for patience; the message says until when.',

  InvalidSpec: 'The spec cannot work; the message names the field.',
  InvalidConstraint: 'versionConstraints cannot be read; the message says where.',
  SecretInvalid: 'A Secret is missing or lacks a key.',
  GitUnavailable: 'The git program is missing.',
  EgressRefused: 'The host or address may not be asked.',
  NoListing: 'This kind of source has no list of versions.',
  AccessDenied: 'The upstream refuses the credential.',
  NotFound: 'The upstream does not have the repository, version or platform.',
  FetchFailed: 'The upstream is away, slow, or answers something else than an archive.',

  NotAnArchive: 'What was fetched is no archive, or a damaged one.',
  UnsafeArchive: 'The archive holds a name, link or layout that is refused.',
  ArchiveTooLarge: 'The archive is larger than the limits allow.',
  Encrypted: 'The archive is encrypted.',
  NoModuleAtRoot: 'There is no configuration at the root of the module.',
  NoProviderInArchive: 'The archive does not hold the executable of the provider.',

  SignatureVerified: 'The checksum of the archive is signed by a key that is trusted.',
  ChecksumVerified: 'The archive has the checksum that upstream says.',
  Unsigned: 'The release is not signed.',
  SignatureInvalid: 'The signature of the release does not hold.',
  SigningKeyChanged: 'Another key than before, or than those trusted, signed the release.',
  ChecksumMismatch: 'The archive does not have the checksum that upstream says.',

  Stored: 'The archive is in storage, and was read back.',
  StorageNotGranted: 'The namespace may not use the place that storageConfig names.',
  StorageFailed: 'Storage is away, or refuses.',
  ArchiveMissing: 'The archive that spec.upload names is not in storage, or another one is.',
  ArchiveLost: 'The stored archive is gone or altered, and upstream no longer has the same.',
  ArchiveNotRemoved: 'Storage is away, so that the archive of a deleted Version is still there.',

  InStep: 'Upstream has what is served.',
  UpstreamChanged: 'Upstream has other content now than what is served.',

  PartiallySynced: 'Some of the children or items failed.',
  SyncFailed: 'All of the children or items failed.',
  Conflict: 'A resource of this name belongs to another owner, and is left alone.',
  NoConflict: 'Every resource is that of this object.',
  UpstreamSuspicious: 'The list of upstream is empty or lost most versions, and is not used.',
  UpstreamPlausible: 'The lists of upstream are used.',

  Compiled: 'Servers can evaluate the GroupBinding.',
  InvalidExpression: 'The expression of a GroupBinding does not compile; the message says where.',
} as const

export type SyncReason = keyof typeof reasons

export type ConditionType =
  | 'Ready'
  | 'Reconciling'
  | 'Stalled'
  | 'Suspended'
  | 'Fetched'
  | 'Verified'
  | 'Stored'
  | 'Drifted'
  | 'Conflict'
  | 'UpstreamSuspicious'

export interface ConditionState {
  readonly status: 'True' | 'False' | 'Unknown'
  readonly reason: SyncReason
  readonly message: string
}

/** What is to become of some conditions; undefined takes one away. */
export type ConditionChanges = Partial<Record<ConditionType, ConditionState | undefined>>

export const conditionTrue = (reason: SyncReason, message: string): ConditionState => ({
  status: 'True',
  reason,
  message,
})
export const conditionFalse = (reason: SyncReason, message: string): ConditionState => ({
  status: 'False',
  reason,
  message,
})

/** The conditions of one that is as it should be, or that cannot be worked on: nothing is going on. */
export const settled: ConditionChanges = {
  Reconciling: undefined,
  Stalled: undefined,
  Suspended: undefined,
}

/**
 * Conditions after changes. A time changes with its status only, and what is not named stays.
 *
 * @param at the generation that was looked at, and the time as RFC 3339
 */
export function withConditions(
  before: readonly Condition[] | undefined,
  changes: ConditionChanges,
  at: { readonly generation: number; readonly now: string },
): Condition[] {
  const all = new Map((before ?? []).map((condition) => [condition.type, condition]))
  for (const [type, state] of Object.entries(changes)) {
    const known = all.get(type)
    if (state === undefined) {
      all.delete(type)
      continue
    }
    const lastTransitionTime = known?.status === state.status ? known.lastTransitionTime : at.now
    all.set(type, { type, ...state, observedGeneration: at.generation, lastTransitionTime })
  }
  return [...all.values()].toSorted((a, b) => (a.type < b.type ? -1 : 1))
}

export function conditionOf(
  conditions: readonly Condition[] | undefined,
  type: ConditionType,
): Condition | undefined {
  return conditions?.find((condition) => condition.type === type)
}
