import type { Context } from '../context.ts'
import type { UpstreamOffer, VersionPlan } from './plan.ts'
import type { VersionWork } from './work.ts'

/** Versions of a repository that are looked at within this time share its list. */
const sharedListMs = 60_000

/** Asks upstream, and requires that its signing key is trusted. @throws FillError */
export async function upstreamOf(
  context: Context,
  plan: VersionPlan,
  { attempt, signal }: Pick<VersionWork, 'attempt' | 'signal'>,
  maxAgeMs = sharedListMs,
): Promise<UpstreamOffer> {
  const urgent = attempt.request !== undefined
  const offer = await plan.ask({
    signal: AbortSignal.any([signal, AbortSignal.timeout(context.timings.listMs)]),
    urgent,
    maxAgeMs: urgent ? 0 : maxAgeMs,
  })
  attempt.revision = offer.revision
  offer.requireTrust()
  return offer
}
