/** Content that a Depot let in, compared with what its upstream has when it is fetched. */

import { agesFor } from '../../policy/policy.ts'
import { FillError } from '../../sources/sources.ts'
import { type Context, keyOf, msOf, refOf, timeOf } from '../context.ts'
import { reportReplaced } from '../parent/replaced.ts'
import { letIn } from './let-in.ts'
import type { UpstreamOffer, VersionPlan } from './plan.ts'
import type { Situation } from './sync-version.ts'
import type { VersionWork } from './work.ts'

/**
 * Tells why a stored archive stays although upstream has other content: the policy of the Depot does not let that in yet.
 *
 * @returns undefined if the content of upstream may be taken
 * @throws FillError UpstreamChanged if nothing is stored that could be kept
 */
export async function heldContent(
  context: Context,
  work: VersionWork,
  plan: VersionPlan,
  offer: UpstreamOffer,
  situation: Pick<Situation, 'isStored' | 'isLost' | 'isCurrent'>,
): Promise<string | undefined> {
  const unaged = await unagedContent(context, work, plan, offer, situation)
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
  { object, version, attempt, signal }: VersionWork,
  { parent, address, policy: replaces }: VersionPlan,
  offer: UpstreamOffer,
  { isStored, isLost, isCurrent }: Pick<Situation, 'isStored' | 'isLost' | 'isCurrent'>,
): Promise<string | undefined> {
  const { revision } = offer
  if (version.status?.artifact?.revision === revision) return undefined
  const isThere = isStored && !isLost
  const mayReplace = replaces === 'follow' || (replaces === 'ask' && !isCurrent)
  if (isThere && (attempt.request !== undefined || !mayReplace)) return undefined
  const { depot, policy, listing, seen } = letIn(context, parent, version.spec.version)
  if (policy === undefined || listing === undefined || seen === undefined) return undefined
  const { Depot, Installation } = agesFor(address, version.spec.version, policy)
  const minimumAgeMs = Math.max(Depot, Installation)
  const nowMs = context.clock()
  if (minimumAgeMs === 0) return undefined
  const deadline = AbortSignal.timeout(context.timings.listMs)
  const options = { signal: AbortSignal.any([signal, deadline]) }
  const mark = seen.mark && (await offer.mark(options))
  const isOther = mark !== undefined && mark !== seen.mark
  // A list that came in between began to count its age.
  const letInMs = isStored ? 0 : (msOf(version.metadata.creationTimestamp) ?? 0)
  const firstMs = msOf(listing.firstListedAt) ?? 0
  const isYoung = seen.sinceMs > Math.max(letInMs, firstMs) && seen.sinceMs + minimumAgeMs > nowMs
  if (!isOther && !isYoung) return undefined
  const key = keyOf(version.metadata)
  // The list may stay as it is, while the clock of upstream is wrong.
  if (isOther && context.unaged.get(key) !== revision) {
    context.unaged.set(key, revision)
    if (depot !== undefined) {
      context.relisted.add(keyOf(depot.metadata))
      context.wake(refOf(depot), 'poll')
    }
    if (replaces === 'never' && !isStored && context.dryRun === undefined) {
      const evidence = { version: version.spec.version, seen: seen.mark ?? '', offered: mark }
      reportReplaced(context, object, address, [evidence])
    }
  }
  const when =
    depot === undefined
      ? 'no Depot lists it any more, so nobody counts how old that content is: bring it with a Depot again'
      : `it is stored when that content is old enough too, at the next poll of Depot ${keyOf(depot.metadata)} after that`
  if (isThere) {
    const until = isOther ? '' : ` (${timeOf(seen.sinceMs + minimumAgeMs)})`
    return `${address} has other content under ${version.spec.version} than the stored archive, which is still served: ${when}${until}`
  }
  if (isLost && !mayReplace) {
    throw new FillError(
      'ArchiveLost',
      'the stored archive is missing or altered, and upstream has other content that is too young: delete the Version to accept it',
    )
  }
  throw new FillError(
    isLost ? 'ArchiveLost' : 'UpstreamChanged',
    `upstream has other content under ${version.spec.version} than when it was let in: ${when}`,
  )
}
