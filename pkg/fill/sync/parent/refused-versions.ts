/**
 * Versions that a Module or Provider has, and that are not stored: those of a module break callers, and the policy refuses who
 * signed those of a provider, or that nobody did.
 */

import type { ListingMemory, Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { type Context, keyOf } from '../context.ts'
import { signatureOwnerOf } from '../depot/configs.ts'
import { breakRefusalOf, signerRefusalOf } from '../version/signer-rule.ts'
import { ownedBy } from './children.ts'
import { depotLabel } from './depot-label.ts'
import { fitting, type HeldEntry } from './held-entries.ts'
import { depotOf } from './quarantine.ts'

type PolicyContext = Pick<Context, 'objects' | 'apiGroup' | 'clock' | 'installation'>

/** One for each version, whatever its platforms. */
export function refusedVersions(context: PolicyContext, parent: StoredObject): HeldEntry[] {
  const depot = depotOf(context, parent)
  const signatureOwner = depot && signatureOwnerOf(context, depot)
  const entries = new Map<string, HeldEntry>()
  for (const child of ownedBy(context, parent)) {
    const { version } = child.spec as Version['spec']
    const refusal =
      parent.kind === 'Provider' ? signerRefusalOf(child, signatureOwner) : breakRefusalOf(child)
    if (refusal !== undefined && !entries.has(version))
      entries.set(version, { version, ...refusal })
  }
  const newestFirst = (a: HeldEntry, b: HeldEntry) =>
    b.version.localeCompare(a.version, 'en', { numeric: true })
  return [...entries.values()].toSorted(newestFirst)
}

/**
 * The memory of the lists of upstream, with the versions that are refused now. A rule of the installation also refuses
 * those of Providers that no Depot made.
 *
 * @param address host and path of the source
 */
export function withRefusedVersions(
  context: PolicyContext,
  parent: StoredObject,
  before: ListingMemory | undefined,
  address: string,
): ListingMemory | undefined {
  const depot = parent.metadata.labels[depotLabel(context.apiGroup)]
  const refused = refusedVersions(context, parent)
  if (depot === undefined) {
    return refused.length === 0 ? undefined : { address, ...fitting(refused) }
  }
  const known = before?.heldBack ?? []
  const again = new Set(refused.map(({ version }) => version))
  // An older definition of Providers drops the field.
  const others = known.filter(
    (one) => one.signedBy === undefined && one.why !== 'Breaking' && !again.has(one.version),
  )
  if (refused.length === 0 && others.length === known.length) return before
  const { namespace } = parent.metadata
  const memory = before ?? { address, depot: keyOf({ namespace, name: depot }) }
  const unlisted = Math.max(0, (before?.heldBackCount ?? 0) - known.length)
  const { heldBack: _held, heldBackCount: _count, ...rest } = memory
  const all = [...others, ...refused]
  if (all.length === 0 && rest.seen === undefined) return undefined
  return { ...rest, ...fitting(all, unlisted) }
}
