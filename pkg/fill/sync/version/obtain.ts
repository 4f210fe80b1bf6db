import type { Reason } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { keyOf, latestOf } from '../objects.ts'
import { quarantinedByPolicy } from '../parent/quarantine.ts'
import { type ConditionState, conditionTrue, type StatusChange, writeStatus } from '../status.ts'
import { within } from '../timings.ts'
import { compareCandidate } from './comparison.ts'
import { writeReadme } from './document.ts'
import { heldForScan } from './plan.ts'
import {
  driftedStatus,
  driftMessage,
  keptStatus,
  reportSubstitution,
  storedStatus,
  substitutionOf,
  type UpstreamContent,
} from './status.ts'
import { objectsOf, store } from './store.ts'
import type {
  Candidate,
  ReplacePolicy,
  Situation,
  SyncAttempt,
  UpstreamOffer,
  VersionPlan,
  VersionStatus,
  VersionWork,
} from './work.ts'

/**
 * Fetches upstream's archive, and stores it if it may be stored.
 *
 * @returns `awaited` if an earlier version has to be stored first; its Module wakes this one then
 * @throws FillError, ArchiveError, RegistryError
 */
export async function obtain(
  context: Context,
  work: VersionWork,
  plan: VersionPlan,
  { offer, ...situation }: Situation & { readonly offer: UpstreamOffer },
): Promise<'awaited' | undefined> {
  const { object, version, attempt } = work
  const { sourceKey } = plan
  const { revision } = offer
  const { artifact, drift } = version.status ?? {}
  const replaceable = replaceableOf(attempt, plan, situation)
  const first = decideToFetch(drift?.revision === revision, replaceable)
  if (first === 'drifted') return reportDrift(context, work, { revision }, undefined)
  if (first === 'keep') return undefined
  const heldKey = `${keyOf(object.metadata)} ${sourceKey} ${revision}`
  const candidate = context.held.take(heldKey) ?? (await fetch(context, work, plan, offer))
  let isHeld = false
  try {
    const decision = decide(artifact, candidate, replaceable)
    if (decision === 'lost') {
      const message = driftMessage(version.status, candidate, 'gone')
      throw new FillError('ArchiveLost', `${message}: delete the Version to accept it`)
    }
    if (decision === 'drifted') return await reportDrift(context, work, candidate, offer.from)
    if (decision === 'keep') {
      const seen = { revision, source: plan, verifiedMs: context.clock() }
      await write(context, work, (status) => keptStatus(status, seen))
      return undefined
    }
    const isNew = artifact?.contentDigest !== candidate.contentDigest
    const comparison = isNew ? await compareCandidate(context, work, plan, candidate) : undefined
    if (comparison === 'awaited') {
      isHeld = true
      await context.held.keep(heldKey, candidate)
      return comparison
    }
    const letGo = await context.inUse.hold(plan.placeId, objectsOf(candidate))
    const deadline = AbortSignal.timeout(context.timings.uploadMs)
    try {
      const signal = AbortSignal.any([work.signal, deadline])
      const stored = await store(context, plan.place, candidate, signal)
      const isFirst = decision === 'store'
      const { from } = situation
      await reportStored(context, work, stored, { plan, from, isNew: isFirst, comparison })
      return undefined
    } catch (error) {
      isHeld = true
      await context.held.keep(heldKey, candidate)
      if (!deadline.aborted) throw error
      const message = 'storage did not accept the archive in time: check its load and the network'
      throw new FillError('StorageFailed', message, { cause: error })
    } finally {
      letGo()
    }
  } finally {
    if (!isHeld) await candidate.file.remove()
  }
}

async function fetch(
  context: Context,
  { object, signal, attempt }: VersionWork,
  { type }: VersionPlan,
  offer: UpstreamOffer,
): Promise<Candidate> {
  const { limits, timings } = context
  const progress = progressOf(context, object)
  try {
    return await offer.fetch({
      signal: within(signal, timings.fetchMs),
      urgent: attempt.request !== undefined,
      onWaiting: progress.waiting,
      limits: type === 'Module' ? limits.module : limits.provider,
    })
  } finally {
    await progress.end()
  }
}

const write = (
  context: Context,
  { object }: VersionWork,
  change: Parameters<typeof writeStatus<VersionStatus>>[2],
) => writeStatus<VersionStatus>(context, latestOf(context, object), change)

interface Reporting extends Pick<Situation, 'from'> {
  readonly plan: VersionPlan
  readonly isNew: boolean
  readonly comparison: StatusChange<VersionStatus> | undefined
}

async function reportStored(
  context: Context,
  work: VersionWork,
  candidate: Candidate,
  { plan, from, isNew, comparison }: Reporting,
): Promise<void> {
  const { clock, timings, metrics, objects } = context
  const before = work.version.status?.artifact?.contentDigest ?? 'nothing'
  const readme =
    plan.type === 'Module' ? await writeReadme(context, work.object, candidate.docs) : {}
  const replacing = { from, to: plan, nowMs: clock(), graceMs: timings.removalGraceMs, readme }
  const object = await write(context, work, (status) => {
    const { fields, conditions } = storedStatus(status, candidate, plan, replacing)
    const held = heldForScan(work.version, plan.parent, { ...candidate, status, nowMs: clock() })
    return {
      fields: {
        ...fields,
        quarantinedBy: quarantinedByPolicy(context, plan, held),
        ...comparison?.fields,
      },
      conditions: { ...conditions, ...comparison?.conditions },
    }
  })
  if (object === undefined) return
  metrics.ended('Version', 'Synced')
  const { contentDigest, fileName, sizeBytes } = candidate
  if (isNew) {
    const note = `stored ${fileName}, ${sizeBytes} bytes`
    objects.event({ object, type: 'Normal', reason: 'Synced', note })
  } else {
    const note = `replaced ${before} by ${contentDigest}, because upstream changed`
    objects.event({ object, type: 'Warning', reason: 'ArchiveReplaced', note })
  }
}

async function reportDrift(
  context: Context,
  work: VersionWork,
  { revision, contentDigest }: UpstreamContent,
  refusedFrom: string | undefined,
): Promise<undefined> {
  const isRefused = refusedFrom !== undefined
  const upstream = { revision, ...(contentDigest !== undefined && { contentDigest }) }
  const nowMs = context.clock()
  const { status: before } = work.version
  const substitution =
    refusedFrom === undefined
      ? undefined
      : substitutionOf(before, upstream, { from: refusedFrom, nowMs })
  const how = { isRefused, nowMs, substitution }
  const object = await write(context, work, (status) => driftedStatus(status, upstream, how))
  context.metrics.ended('Version', 'UpstreamChanged')
  if (object === undefined) return
  reportSubstitution(context, object, substitution)
  if (substitution !== undefined) return
  const note = driftMessage(before, upstream, isRefused ? 'served' : 'replaceable')
  context.objects.event({ object, type: 'Warning', reason: 'UpstreamChanged', note })
}

/**
 * Reports in the status that a fetch is going on.
 *
 * @returns `waiting` reports that the spool has no room; `end` resolves when all writes have ended
 */
function progressOf(context: Context, object: StoredObject) {
  let writing = Promise.resolve()
  const tell = (reason: Reason, message: string) => {
    writing = writing.then(() => reportProgress(context, object, conditionTrue(reason, message)))
  }
  const timer = setTimeout(
    () => tell('Progressing', 'the archive is being fetched'),
    context.timings.progressMs,
  )
  return {
    waiting: () => tell('WaitingForSpool', 'waits for space in the spool'),
    end: async () => {
      clearTimeout(timer)
      await writing
    },
  }
}

async function reportProgress(
  context: Context,
  { kind, metadata: { namespace, name } }: StoredObject,
  Reconciling: ConditionState,
): Promise<void> {
  const current = context.objects.get(kind, namespace, name)
  if (current === undefined) return
  try {
    await writeStatus<VersionStatus>(context, current, (status) => ({
      fields: { syncStatus: status?.synced === true ? 'Synced' : 'Fetching' },
      conditions: { Reconciling },
      isProgress: true,
    }))
  } catch (error) {
    context.log.info({ key: name, err: error }, 'progress was not written')
  }
}

interface StoredArtifact {
  readonly contentDigest?: string | undefined
  readonly fileName?: string | undefined
}

export type ArchiveDecision =
  /** Nothing is stored yet, or the same content is lost or packed differently. */
  | 'store'
  /** The stored archive has the same content. */
  | 'keep'
  | 'replace'
  /** The stored archive stays, although upstream has other content. */
  | 'drifted'
  /** The stored archive is gone, and upstream has other content. */
  | 'lost'

/** The stored archive, and who may replace it. */
interface Replaceable {
  readonly policy: ReplacePolicy
  /** Whether the stored object is missing or altered. */
  readonly lost: boolean
  /** Whether the stored object is in another place than the spec names. */
  readonly elsewhere?: boolean
  /** Whether a person requested a sync, or the spec names another source. */
  readonly wanted: boolean
}

export const replaceableOf = (
  { request }: SyncAttempt,
  { policy }: Pick<VersionPlan, 'policy'>,
  { isLost: lost, isElsewhere: elsewhere, isCurrent }: Situation,
): Replaceable => ({ policy, lost, elsewhere, wanted: request !== undefined || !isCurrent })

/**
 * Decides whether to fetch upstream's archive.
 *
 * @param knownDrift whether upstream was seen to have this content, and it was not stored
 */
export function decideToFetch(
  knownDrift: boolean,
  { policy, lost, elsewhere, wanted }: Replaceable,
): 'fetch' | 'keep' | 'drifted' {
  if (wanted || lost) return 'fetch'
  if (policy === 'ask' && elsewhere !== true) return 'drifted'
  return knownDrift ? 'keep' : 'fetch'
}

/**
 * Decides what to do with a fetched archive.
 *
 * @param stored from the status; undefined if nothing was ever stored
 */
export function decide(
  stored: StoredArtifact | undefined,
  fetched: { readonly contentDigest: string; readonly fileName: string },
  situation: Replaceable,
): ArchiveDecision {
  if (stored?.contentDigest === undefined) return 'store'
  if (stored.contentDigest === fetched.contentDigest) {
    const samePacking = endingOf(stored.fileName) === endingOf(fetched.fileName)
    const isThere = !situation.lost && situation.elsewhere !== true
    return isThere && samePacking ? 'keep' : 'store'
  }
  const { policy, lost, wanted } = situation
  if (policy === 'follow' || (policy === 'ask' && wanted)) return 'replace'
  return lost ? 'lost' : 'drifted'
}

function endingOf(fileName: string | undefined): string {
  return fileName?.endsWith('.zip') === true ? 'zip' : 'tar.gz'
}
