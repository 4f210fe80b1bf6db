/** Decides about the next step for a Version, by its stored archive, its upstream and its policy. */

import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { agesFor, isSameMark } from '../../policy/policy.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { DepotStatus } from '../depot/configs.ts'
import { keyOf, latestOf } from '../objects.ts'
import { letIn, writeListing } from '../parent/seen.ts'
import { jittered, msOf, pastMsOf, timeOf, within } from '../timings.ts'
import { storedPlaceOf, upstreamOf } from './plan.ts'
import { verifyStored } from './store.ts'
import type {
  Situation,
  StoredState,
  SyncAttempt,
  UpstreamOffer,
  VersionPlan,
  VersionStatus,
  VersionWork,
} from './work.ts'

/** The next step for a Version whose archive is not elsewhere. */
type NextStep =
  /** Versions of other modules ask its host. */
  | { readonly step: 'queue'; readonly waitsFor: string }
  /** An earlier version has to be stored first. Its Module wakes this one when it is stored or refused. */
  | { readonly step: 'await' }
  /** The archive of upstream was refused, and is to be fetched again later. */
  | { readonly step: 'refused'; readonly leftMs: number }
  /** The stored archive is the wanted one. `isOfSource`: it is known to come from the source that the spec names. */
  | { readonly step: 'keep'; readonly isOfSource: boolean }
  /** The stored archive stays until the policy lets in what upstream has. */
  | { readonly step: 'wait'; readonly message: string }
  | { readonly step: 'obtain'; readonly offer: UpstreamOffer }

/** Decides about the next step for a Version, and asks upstream for that if necessary. Stores nothing. @throws FillError */
export async function nextStep(
  context: Context,
  work: VersionWork,
  plan: VersionPlan,
  situation: Situation & { readonly isAwaited: boolean },
): Promise<NextStep> {
  const { attempt, version } = work
  const { metadata, status } = version
  const { isOfSource } = situation
  const wasRefused = status?.drift !== undefined || status?.attempted !== undefined
  const mayHaveChanged = attempt.outdated !== undefined || wasRefused
  if (situation.isKept && !mayHaveChanged) return { step: 'keep', isOfSource }
  if (situation.isAwaited) return { step: 'await' }
  // Modules take turns, so that each has its newest version before one has all of them.
  if (!context.slots.take(plan.host, keyOf(metadata))) {
    return { step: 'queue', waitsFor: `${plan.host} ${plan.configName}` }
  }
  const offer = await upstreamOf(context, plan, work)
  const refused = attempt.request === undefined ? refusedBefore(work) : undefined
  const leftMs =
    refused === undefined ? 0 : refusedWaitMs(context, work.object.metadata.uid, refused)
  if (leftMs > 0) return { step: 'refused', leftMs }
  if (isOffered(offer.revision, work, plan, situation)) return { step: 'keep', isOfSource: true }
  const message = await heldContent(context, work, { plan, offer, situation })
  return message === undefined ? { step: 'obtain', offer } : { step: 'wait', message }
}

export async function situationOf(
  context: Context,
  { object, version, attempt, signal }: VersionWork,
  plan: VersionPlan,
): Promise<Situation> {
  const { artifact, upstream } = version.status ?? {}
  const from = storedPlaceOf(context, version)
  const isElsewhere = from.placeId !== plan.placeId
  const isOfSource = artifact?.sourceKey === plan.keyIn(from)
  // A version that upstream has removed is kept, even one of a source that the module had before.
  const isSame = isOfSource || upstream === 'Gone'
  const isStored = artifact?.fileName !== undefined
  const stored: StoredState = isStored
    ? await verifyStored(context, object, from, { signal, now: !isSame || isElsewhere })
    : { state: 'whole', isChecked: false, seen: {} }
  const isLost = stored.state === 'lost'
  const isCurrent = isStored && isSame
  const isKept = isCurrent && !isElsewhere && !isLost && attempt.request === undefined
  return { from, stored, isStored, isElsewhere, isOfSource, isCurrent, isLost, isKept }
}

/**
 * Whether the stored archive is the one that upstream offers. The revision of a provider is the digest of its archive, from
 * whatever registry it comes.
 */
function isOffered(
  revision: string,
  { version: { status }, attempt }: Pick<VersionWork, 'version' | 'attempt'>,
  { type }: VersionPlan,
  { isKept, isStored, isElsewhere, isLost }: Situation,
): boolean {
  const isThere = isKept || (type === 'Provider' && isStored && !isElsewhere && !isLost)
  return isThere && attempt.request === undefined && revision === status?.artifact?.revision
}

type Attempted = NonNullable<VersionStatus['attempted']>

/**
 * Remembers a refusal, for a transfer may have damaged the archive. Undefined if nothing was found to fetch.
 *
 * @param isFinal whether the same archive is refused again whenever it is tried
 */
export function attemptedNow(
  { clock }: Context,
  { key, revision }: SyncAttempt,
  before: Attempted | undefined,
  isFinal: boolean,
): Attempted | undefined {
  if (key === undefined || revision === undefined) return undefined
  const isSame = before?.sourceKey === key && before.revision === revision
  if (isSame && isFinal) return before
  const failures = isSame ? (before.failures ?? 1) + 1 : 1
  return { sourceKey: key, revision, at: timeOf(clock()), failures }
}

/** The refusal of the same archive, if one is remembered. */
function refusedBefore({
  version: { metadata, status },
  attempt: { key, revision },
}: Pick<VersionWork, 'version' | 'attempt'>): Attempted | undefined {
  const { attempted, observedGeneration } = status ?? {}
  const isSame = attempted?.sourceKey === key && attempted?.revision === revision
  return isSame && observedGeneration === metadata.generation ? attempted : undefined
}

/** How long to wait before a refused archive is fetched again; 0 if it is due. */
export function refusedWaitMs(
  { clock, timings, pollSinceMs }: Context,
  uid: string,
  { at, failures = 1 }: Attempted,
): number {
  const atMs = pastMsOf(at, clock())
  // Times in a status are whole seconds.
  if (atMs + 1000 <= pollSinceMs) return 0
  const waitMs = Math.min(timings.longestRefusedMs, timings.refusedMs * 2 ** (failures - 1))
  return Math.max(0, atMs + jittered(waitMs, uid) - clock())
}

/** The content that upstream offers for a Version, and what is stored of it. */
interface OfferedContent {
  readonly plan: VersionPlan
  readonly offer: UpstreamOffer
  readonly situation: Pick<Situation, 'isStored' | 'isLost' | 'isCurrent'>
}

/**
 * Tells why a stored archive stays although upstream has other content: the policy of the Depot does not let that in yet.
 *
 * @returns undefined if the content of upstream may be taken
 * @throws FillError UpstreamChanged if nothing is stored that could be kept
 */
async function heldContent(
  context: Context,
  work: VersionWork,
  offered: OfferedContent,
): Promise<string | undefined> {
  const { plan, situation } = offered
  const unaged = await unagedContent(context, work, offered)
  const { attempt, version } = work
  const isHeld = attempt.outdated?.isHeld === true && attempt.request === undefined
  if (unaged !== undefined || !isHeld || !situation.isStored || situation.isLost) return unaged
  return `${plan.address} has other content under ${version.spec.version} than the stored archive, which is still served: the policy does not let it in`
}

/**
 * Tells why a stored archive stays although upstream has other content: its age was not counted yet, because it differs from
 * what the Depot listed when it let the version in. Then the Depot lists again. What a person requests for a stored version
 * needs no age, nor does content that replaces nothing.
 *
 * @returns undefined if the content of upstream may be taken
 * @throws FillError UpstreamChanged if nothing is stored that could be kept
 */
async function unagedContent(
  context: Context,
  { version, attempt, signal }: VersionWork,
  { plan, offer, situation }: OfferedContent,
): Promise<string | undefined> {
  const { parent, address, policy: replaces } = plan
  const { isStored, isLost, isCurrent } = situation
  const { revision } = offer
  if (version.status?.artifact?.revision === revision) return undefined
  const isThere = isStored && !isLost
  const mayReplace = replaces === 'follow' || (replaces === 'ask' && !isCurrent)
  if (isThere && (attempt.request !== undefined || !mayReplace)) return undefined
  const name = version.spec.version
  const { depot, policy, listing, seen } = letIn(context, parent, name)
  if (policy === undefined || listing?.seen === undefined) return undefined
  // The age of content that no Depot lists does not count, because a person chose the content.
  if (seen === undefined && depot === undefined) return undefined
  const { Depot, Installation } = agesFor(address, name, policy)
  const minimumAgeMs = Math.max(Depot, Installation)
  if (minimumAgeMs === 0 && policy.datedBy === undefined) return undefined
  const options = { signal: within(signal, context.timings.listMs) }
  const mark = seen?.mark && (await offer.mark(options))
  const isOther = mark !== undefined && seen?.mark !== undefined && !isSameMark(mark, seen.mark)
  const isListed = seen !== undefined && !isOther
  // A later list began to count its age, or that of a platform that came later.
  const isLater = isListed && seen.sinceMs > (msOf(listing.firstListedAt) ?? 0)
  const freeMs = isLater ? seen.sinceMs + minimumAgeMs : 0
  if (isListed && freeMs <= context.clock()) return undefined
  if (!isListed) listAgain(context, depot, keyOf(version.metadata), revision)
  const isAlarm = replaces === 'never' && !isStored && listing.address === address
  if (isOther && isAlarm && parent !== undefined && context.dryRun === undefined) {
    const at = timeOf(context.clock())
    const evidence = { version: normalizeVersion(name), at, seen: seen?.mark ?? '', offered: mark }
    await writeListing(context, latestOf(context, parent), (before) => before, [evidence])
  }
  const freeAt = timeOf(freeMs)
  const until = isListed ? ` (${freeAt})` : ''
  const after =
    depot === undefined
      ? 'No Depot lists it any more, so the age of the new content is unknown: list it in a Depot again'
      : `The new content is stored once it is old enough, too${until}`
  if (isThere) {
    return `${address} has other content under ${name} than the stored archive, which is still served. ${after}`
  }
  if (isLost && !mayReplace) {
    throw new FillError(
      'ArchiveLost',
      'the stored archive is missing or altered, and upstream has other content that is too young: delete the Version to accept it',
    )
  }
  const by = depot === undefined ? 'its Depot' : `Depot ${keyOf(depot.metadata)}`
  let what = `upstream replaced ${name} after ${by} had let it in. ${after}`
  if (seen === undefined) {
    what = `upstream has ${name}, which the last list of ${by} did not have. It is stored when a list has it and it is old enough`
  } else if (isListed) {
    what = `${by} has seen this content of ${name} since ${timeOf(seen.sinceMs)}. It is old enough at ${freeAt}, and is stored then`
  }
  throw new FillError(isLost ? 'ArchiveLost' : 'UpstreamChanged', what)
}

/** Has a Depot polled for content that it did not list: at once for each, then each hour while its list stays as it is. */
function listAgain(
  context: Context,
  depot: StoredObject | undefined,
  key: string,
  revision: string,
): void {
  if (depot === undefined) return
  const { lastPoll } = (latestOf(context, depot).status ?? {}) as DepotStatus
  const isNew = context.unaged.get(key) !== revision
  const isDue = pastMsOf(lastPoll, context.clock()) + context.timings.stalledMs <= context.clock()
  if (!isNew && !isDue) return
  context.unaged.set(key, revision)
  context.relisted.add(keyOf(depot.metadata))
  context.wake(refOf(depot), 'poll')
}
