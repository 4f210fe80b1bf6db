/** Content that a Depot let in, compared with what its upstream has when it is fetched. */

import { normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt as tryTo } from '../../../base/errors/errors.ts'
import { agesFor } from '../../policy/policy.ts'
import { FillError } from '../../sources/sources.ts'
import { type Context, keyOf, msOf, refOf } from '../context.ts'
import { policyOf } from '../depot/configs.ts'
import { listingOf, seenIn } from '../parent/held-back.ts'
import { depotOf } from '../parent/quarantine.ts'
import type { UpstreamOffer, VersionPlan } from './plan.ts'
import type { VersionWork } from './work.ts'

/**
 * Tells whether the age of what upstream offers now was not counted yet, because it differs from what the Depot listed. Then the
 * Depot lists again. What is stored already, and what a person requests for a stored version, needs no age.
 *
 * @throws FillError UpstreamChanged if nothing is stored that could be kept
 */
export function isUnaged(
  context: Context,
  { version, attempt }: VersionWork,
  { parent, address }: VersionPlan,
  { revision }: UpstreamOffer,
): boolean {
  const { artifact } = version.status ?? {}
  const isStored = artifact?.fileName !== undefined
  if (isStored && (artifact.revision === revision || attempt.request !== undefined)) return false
  const depot = depotOf(context, parent)
  const listing = listingOf(parent)
  if (depot === undefined || listing === undefined) return false
  const policy = tryTo(() => policyOf(context, depot))
  if (policy === undefined) return false
  const { Depot, Installation } = agesFor(address, version.spec.version, policy)
  const minimumAgeMs = Math.max(Depot, Installation)
  const nowMs = context.clock()
  const seen = seenIn(listing, nowMs)?.get(normalizeVersion(version.spec.version))
  if (seen === undefined || minimumAgeMs === 0) return false
  const commit = /@sha\d+:([0-9a-f]+)$/.exec(revision)?.[1]
  const isOther = commit !== undefined && seen.mark !== undefined && !commit.startsWith(seen.mark)
  // A list that came in between began to count its age.
  const letInMs = isStored ? 0 : (msOf(version.metadata.creationTimestamp) ?? 0)
  const firstMs = msOf(listing.firstListedAt) ?? 0
  const isYoung = seen.sinceMs > Math.max(letInMs, firstMs) && seen.sinceMs + minimumAgeMs > nowMs
  if (!isOther && !isYoung) return false
  context.unaged.add(keyOf(depot.metadata))
  context.wake(refOf(depot), 'poll')
  if (isStored) return true
  throw new FillError(
    'UpstreamChanged',
    `upstream has other content under ${version.spec.version} than when it was let in: it is stored when that content is old enough too, at the next poll of Depot ${keyOf(depot.metadata)} after that`,
  )
}
