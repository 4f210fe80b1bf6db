import type {
  ArchiveDocs,
  ArchiveSource,
  Artifact,
  Version,
} from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { failureText } from '../failure.ts'
import {
  type ConditionChanges,
  conditionFalse,
  conditionTrue,
  failedConditions,
  type StatusChange,
  settled,
} from '../status.ts'
import { timeOf } from '../timings.ts'
import {
  type Candidate,
  filesIn,
  type ReadmeFields,
  type StoragePlace,
  type SyncAttempt,
  type VersionPlan,
  type VersionStatus,
} from './work.ts'

type Change = StatusChange<VersionStatus>

/** The content of an upstream, with a digest if it was fetched. */
export interface UpstreamContent {
  readonly revision: string
  readonly contentDigest?: string
}

const maxPreviousDigests = 5

/** The definition of Versions allows as many. */
const maxReplaced = 100

const ready: ConditionChanges = {
  ...settled,
  Ready: conditionTrue('Synced', 'the archive is stored and served'),
}

const inSync = {
  synced: true,
  syncStatus: 'Synced',
  drift: undefined,
  attempted: undefined,
} as const

/** The conditions of an archive that has upstream's content. */
const whole: ConditionChanges = {
  ...ready,
  Stored: conditionTrue('Stored', 'the archive was read back from storage'),
  Drifted: conditionFalse('InStep', 'upstream has the content that is served'),
}

type Source = Pick<VersionPlan, 'sourceKey' | 'address'>

/** An archive that takes the place of the one in a status. */
interface Replacing {
  readonly from: StoragePlace
  readonly to: StoragePlace
  readonly nowMs: number
  /** How long the files of the previous archive stay. */
  readonly graceMs: number
}

/** Reports a new archive, next to the one that it replaces. */
export function storedStatus(
  before: VersionStatus | undefined,
  candidate: Candidate,
  { sourceKey, address }: Source,
  replacing: Replacing & { readonly readme: ReadmeFields },
): Change {
  const now = timeOf(replacing.nowMs)
  const { fileName, sha256, sizeBytes, revision, contentDigest, hashes, docs, release } = candidate
  const artifact: Artifact = {
    fileName,
    sha256,
    sizeBytes,
    revision,
    contentDigest,
    ...(hashes && { hashes: [...hashes] }),
    ...(docs && { docs: docsFields(docs) }),
    storedAt: now,
    verifiedAt: now,
    rehashedAt: now,
    sourceKey,
    address,
    ...placeFields(replacing.to),
  }
  const documents = release && releaseFields(release)
  return {
    fields: {
      artifact,
      checksum: Buffer.from(sha256, 'hex').toString('base64'),
      archiveSizeBytes: sizeBytes,
      release: documents,
      replaced: replacedAfter(before, filesIn({ artifact, release: documents }), replacing),
      previousDigests: digestsBefore(before, contentDigest),
      // Whoever published an archive did not publish the one of a source that replaces it.
      published: undefined,
      ...replacing.readme,
      ...inSync,
    },
    conditions: {
      ...whole,
      Fetched: conditionTrue('Synced', 'the archive was fetched from upstream'),
      Verified: release && verifiedBy(release),
    },
  }
}

/**
 * Reports go.mod and go.sum of a provider, or why there are none. Those of another repository are removed later.
 *
 * @param source undefined: no repository is known
 */
export function sourcedStatus(
  before: VersionStatus | undefined,
  source: ArchiveSource | undefined,
  { at, ...times }: Pick<Replacing, 'nowMs' | 'graceMs'> & { readonly at: StoragePlace },
): Change {
  const { source: _, ...rest } = before?.artifact ?? {}
  const artifact = { ...rest, ...(source && { source }) }
  const files = filesIn({ ...before, artifact })
  const replaced = replacedAfter(before, files, { from: at, to: at, ...times })
  return { fields: { artifact, replaced }, conditions: {} }
}

/** Reports that an archive and its documents were copied to another place. */
export function movedStatus(
  before: VersionStatus | undefined,
  { sourceKey, without }: { readonly sourceKey: string | undefined; readonly without: Extras },
  replacing: Replacing,
): Change {
  const { docs, source, ...stored } = before?.artifact ?? {}
  const artifact = before?.artifact && {
    ...stored,
    ...(docs && !without.has('docs') && { docs }),
    ...(source && !without.has('source') && { source }),
    ...(sourceKey !== undefined && { sourceKey }),
    verifiedAt: timeOf(replacing.nowMs),
    ...placeFields(replacing.to),
  }
  const replaced = replacedAfter(before, filesIn(before), replacing)
  return { fields: { artifact, replaced }, conditions: {} }
}

export function placeFields({ storage, configName }: StoragePlace) {
  return { storageConfig: storage, configName }
}

/** The fields that say which documentation belongs to an archive. */
export const docsFields = ({ sha256, sizeBytes }: ArchiveDocs): ArchiveDocs => ({
  sha256,
  sizeBytes,
})

/** Files next to an archive that can be made again. */
export type Extras = ReadonlySet<'docs' | 'source'>

type Replaced = NonNullable<VersionStatus['replaced']>[number]

/** The files that wait for their removal, with those that Depot stored for the previous archive. */
function replacedAfter(
  before: VersionStatus | undefined,
  files: readonly string[],
  { from, to, nowMs, graceMs }: Replacing,
): VersionStatus['replaced'] {
  const isOurs = before?.artifact?.sourceKey !== undefined
  const removeAfter = timeOf(nowMs + graceMs)
  const leaving = (isOurs ? filesIn(before) : []).map((fileName) => ({ fileName, removeAfter }))
  const all = new Map(
    [...(before?.replaced ?? []), ...leaving].map((one: Replaced) => {
      const placed = {
        ...one,
        storageConfig: one.storageConfig ?? from.storage,
        configName: one.configName ?? from.configName,
      }
      return [placeText(placed, one.fileName), placed] as const
    }),
  )
  for (const file of files) all.delete(placeText(placeFields(to), file))
  return all.size > 0 ? [...all.values()].slice(-maxReplaced) : undefined
}

function placeText(
  { storageConfig, configName }: ReturnType<typeof placeFields>,
  fileName: string,
): string {
  const { presign: _, ...storage } = storageConfig
  return JSON.stringify([storage, configName, fileName])
}

function digestsBefore(before: VersionStatus | undefined, now: string): string[] | undefined {
  const old = before?.artifact?.contentDigest
  const known = before?.previousDigests ?? []
  if (old === undefined || old === now) return before?.previousDigests
  return [old, ...known.filter((digest) => digest !== old)].slice(0, maxPreviousDigests)
}

function releaseFields(release: NonNullable<Candidate['release']>): VersionStatus['release'] {
  const { fileName, documents, keyFingerprint } = release
  const names = Object.fromEntries(documents.map((document) => [document.field, document.fileName]))
  return { fileName, ...names, ...(keyFingerprint !== undefined && { keyFingerprint }) }
}

function verifiedBy({ isSigned, keyFingerprint }: NonNullable<Candidate['release']>) {
  return isSigned
    ? conditionTrue('SignatureVerified', `signed by ${keyFingerprint ?? 'a key of upstream'}`)
    : conditionFalse('Unsigned', 'the release has no signature, and signature: IfPresent allows it')
}

/** Reports that the stored archive has upstream's content. */
export function keptStatus(
  before: VersionStatus | undefined,
  seen: { readonly revision?: string; readonly source?: Source; readonly verifiedMs?: number },
): Change {
  const { revision, source, verifiedMs } = seen
  const artifact = before?.artifact && {
    ...before.artifact,
    ...(revision !== undefined && { revision }),
    ...(source && { sourceKey: source.sourceKey, address: source.address }),
    ...(verifiedMs !== undefined && { verifiedAt: timeOf(verifiedMs) }),
  }
  return { fields: { artifact, ...inSync }, conditions: whole }
}

/** Reports that the stored archive stays until upstream's other content is old enough. */
export function waitingStatus(message: string): Change {
  return {
    fields: { synced: true, syncStatus: 'Synced' },
    conditions: { ...ready, Drifted: conditionTrue('UpstreamChanged', message) },
  }
}

/** Reports that upstream has other content; the stored archive is still served. */
export function driftedStatus(
  before: VersionStatus | undefined,
  upstream: UpstreamContent,
  {
    isRefused,
    nowMs,
    substitution,
  }: {
    readonly isRefused: boolean
    readonly nowMs: number
    readonly substitution?: Substitution | undefined
  },
): Change {
  const message = driftMessage(before, upstream, isRefused ? 'served' : 'replaceable')
  const isKnown = before?.drift?.revision === upstream.revision
  const since = (isKnown ? before?.drift?.since : undefined) ?? timeOf(nowMs)
  const refused: ConditionChanges = {
    ...settled,
    Ready: conditionFalse('UpstreamChanged', message),
    Stalled: conditionTrue('UpstreamChanged', message),
  }
  return {
    fields: {
      drift: { ...upstream, since },
      ...withSubstitution(before, substitution),
      synced: !isRefused,
      syncStatus: isRefused ? `Sync failed: ${message}` : 'Synced',
    },
    conditions: {
      ...(isRefused ? refused : ready),
      Drifted: conditionTrue('UpstreamChanged', message),
    },
  }
}

/** The state of the stored archive after a change upstream. */
const fates = {
  served: 'which is still served',
  replaceable: 'which is still served; forceSync replaces it',
  gone: 'which is gone from storage',
}

export function driftMessage(
  before: VersionStatus | undefined,
  { revision, contentDigest = revision }: UpstreamContent,
  fate: keyof typeof fates,
): string {
  const stored = before?.artifact?.contentDigest ?? 'the first stored archive'
  return `upstream has ${contentDigest} instead of ${stored}, ${fates[fate]}`
}

const stages: Readonly<Partial<Record<FillError['reason'], 'Verified' | 'Stored'>>> = {
  Unsigned: 'Verified',
  SignatureInvalid: 'Verified',
  SigningKeyChanged: 'Verified',
  ChecksumMismatch: 'Verified',
  StorageFailed: 'Stored',
  ArchiveMissing: 'Stored',
  ArchiveLost: 'Stored',
}
const ofSpec: ReadonlySet<string> = new Set(['InvalidSpec', 'SecretInvalid', 'WaitingForSpool'])

/** Reports a failure. A stored archive stays ready while upstream is unavailable. */
export function failedStatus(
  before: VersionStatus | undefined,
  failure: FillError,
  { isLost = false }: Pick<SyncAttempt, 'isLost'> = {},
): Change {
  const { reason, message, terminal } = failure
  const isStored = before?.artifact?.fileName !== undefined && !isLost
  if (isStored && !terminal && reason !== 'ArchiveMissing') {
    return { fields: {}, conditions: { Reconciling: conditionTrue(reason, message) } }
  }
  const stage = stages[reason] ?? (ofSpec.has(reason) ? undefined : 'Fetched')
  return {
    fields: { synced: false, syncStatus: failureText(failure) },
    conditions: {
      ...failedConditions(failure),
      ...(stage && { [stage]: conditionFalse(reason, message) }),
    },
  }
}

const maxSubstitutions = 10

/** Evidence of other bytes that an upstream had under a stored version. */
export type Substitution = NonNullable<VersionStatus['substitutions']>[number]

/** Reports other bytes under a stored version, by an Event and in metrics. @param substitution undefined: there is nothing new */
export function reportSubstitution(
  { metrics, objects }: Pick<Context, 'metrics' | 'objects'>,
  object: StoredObject,
  substitution: Substitution | undefined,
): void {
  if (substitution === undefined) return
  const { type } = object.spec as Version['spec']
  metrics.substituted(type)
  const { served, offered, from } = substitution
  const note = `upstream has other bytes under a stored version: ${offered} from ${from} instead of ${served}, which is still served`
  objects.event({ object, type: 'Warning', reason: 'UpstreamSubstitution', note })
}

/** The evidence of a Version with one more part. */
export function withSubstitution(
  before: VersionStatus | undefined,
  substitution: Substitution | undefined,
): Pick<VersionStatus, 'substitutions'> {
  if (substitution === undefined) return {}
  const substitutions = [...(before?.substitutions ?? []), substitution]
  return { substitutions: substitutions.slice(-maxSubstitutions) }
}

/** Evidence of other bytes under a stored version; undefined if it is known already. */
export function substitutionOf(
  before: VersionStatus | undefined,
  { contentDigest: offered }: { readonly contentDigest?: string | undefined },
  { from, nowMs }: { readonly from: string; readonly nowMs: number },
): Substitution | undefined {
  const served = before?.artifact?.contentDigest
  if (served === undefined || offered === undefined) return undefined
  const isKnown = before?.substitutions?.some((one) => one.offered === offered) === true
  return isKnown ? undefined : { at: timeOf(nowMs), served, offered, from }
}
