import { type ListingMemory, normalizeVersion } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { SeenVersion } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { wholePolicyOf } from '../depot/configs.ts'
import { depotOf } from '../parent/quarantine.ts'
import { listingOf, seenIn } from '../parent/seen.ts'

/** The Depot of a Module or Provider, and what its lists knew about a version. */
export function letIn(context: Context, parent: StoredObject | undefined, version: string) {
  const depot = depotOf(context, parent)
  const listing: ListingMemory | undefined = listingOf(parent)
  const all = listing && seenIn(listing, context.clock())
  const seen: SeenVersion | undefined = all?.get(normalizeVersion(version))
  return { depot, policy: wholePolicyOf(context, depot).policy, listing, seen }
}
