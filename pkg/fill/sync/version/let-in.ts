import { type ListingMemory, normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import { attempt } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Policy, type SeenVersion, strictest } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { policyOf } from '../depot/configs.ts'
import { listingOf, seenIn } from '../parent/held-back.ts'
import { depotOf } from '../parent/quarantine.ts'

/** By the spec of the Depot, or the policy of the installation: rules are compiled once for all Versions. */
const compiled = new WeakMap<
  object,
  { readonly whole: unknown; readonly policy: Policy | undefined }
>()

/**
 * The policy for the versions of a Module or Provider. That of the installation holds also if the Depot is gone, or has a
 * mistake in its own.
 */
export function policyFor(context: Context, depot: StoredObject | undefined): Policy | undefined {
  const whole = context.installation?.current
  const key = (depot?.spec as object | undefined) ?? whole
  if (key === undefined) return undefined
  const known = compiled.get(key)
  if (known !== undefined && known.whole === whole) return known.policy
  const withDepot = depot && attempt(() => policyOf(context, depot))
  const policy = withDepot ?? strictest([], whole)
  compiled.set(key, { whole, policy })
  return policy
}

/** The Depot of a Module or Provider, and what its lists knew about a version. */
export function letIn(context: Context, parent: StoredObject | undefined, version: string) {
  const depot = depotOf(context, parent)
  const listing: ListingMemory | undefined = listingOf(parent)
  const all = listing && seenIn(listing, context.clock())
  const seen: SeenVersion | undefined = all?.get(normalizeVersion(version))
  return { depot, policy: policyFor(context, depot), listing, seen }
}
