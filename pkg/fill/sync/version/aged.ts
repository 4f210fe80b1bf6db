/** Content that a Depot let in, compared with what its upstream has when it is fetched. */

import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import { refOf, type StoredObject } from '../../../records/store/store.ts'
import { agesFor, isSameMark } from '../../policy/policy.ts'
import { FillError } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import type { DepotStatus } from '../depot/configs.ts'
import { keyOf, latestOf } from '../objects.ts'
import { letIn, writeListing } from '../parent/seen.ts'
import { msOf, timeOf, within } from '../timings.ts'
import type { Situation, UpstreamOffer, VersionPlan, VersionWork } from './work.ts'

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
export async function heldContent(
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
  const isDue = (msOf(lastPoll) ?? 0) + context.timings.stalledMs <= context.clock()
  if (!isNew && !isDue) return
  context.unaged.set(key, revision)
  context.relisted.add(keyOf(depot.metadata))
  context.wake(refOf(depot), 'poll')
}
