import type { ProviderRelease, ResolvedVersion } from '../../sources/sources.ts'
import type { Context } from '../context.ts'
import { checkKeyTrust } from './key-trust.ts'
import type { ModulePlan, Plan, ProviderPlan } from './plan.ts'
import type { Work } from './sync-version.ts'

/** The list of a repository is shared by all its versions that are looked at within this time. */
const sharedListMs = 60_000

/** What upstream has of a Version at this moment, and the plan that it belongs to. */
export type Upstream =
  | {
      readonly type: 'Module'
      readonly plan: ModulePlan
      readonly resolved: ResolvedVersion
      readonly revision: string
    }
  | {
      readonly type: 'Provider'
      readonly plan: ProviderPlan
      readonly release: ProviderRelease
      readonly revision: string
    }

/** Asks upstream, which for a provider verifies the signature of its checksums. @throws SourceError, Failure */
export async function upstreamOf(
  context: Context,
  plan: Plan,
  { version, attempt, signal }: Work,
  maxAgeMs: number = sharedListMs,
): Promise<Upstream> {
  const urgent = attempt.request !== undefined
  const options = {
    signal: AbortSignal.any([signal, AbortSignal.timeout(context.timings.listMs)]),
    urgent,
    maxAgeMs: urgent ? 0 : maxAgeMs,
  }
  if (plan.type === 'Module') {
    const resolved = await plan.source.resolve(version.spec.version, options)
    return { type: 'Module', plan, resolved, revision: resolved.revision }
  }
  const release = await plan.upstream.release(plan.version, plan.platform, options)
  attempt.revision = release.revision
  checkKeyTrust(context, plan, release)
  return { type: 'Provider', plan, release, revision: release.revision }
}
