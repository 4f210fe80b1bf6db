/**
 * Versions that a Module or Provider has, and that are not stored: those of a module break callers, and the policy refuses who
 * signed those of a provider, or that nobody did.
 */

import { heldWhys, whyHeld } from '../../../api/held/held.ts'
import type { ListingMemory, Version } from '../../../api/v1alpha1/v1alpha1.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { PolicyOwner } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { signatureOwnerOf } from '../depot/configs.ts'
import { keyOf } from '../objects.ts'
import { readyIn } from '../status.ts'
import { depotLabel } from './depot-label.ts'
import { depotOf } from './quarantine.ts'
import { ownedBy } from './versions.ts'

const maxHeldBack = 1000
/** Reasons are written by people, and can be long. */
const maxHeldBytes = 200_000

export type HeldEntry = NonNullable<ListingMemory['heldBack']>[number]

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

/**
 * As many as a status can hold: first those that come in next, last those that people do not wait for.
 *
 * @param unlisted how many more there are
 */
export function fitting(
  held: readonly HeldEntry[],
  unlisted = 0,
): Pick<ListingMemory, 'heldBack' | 'heldBackCount'> {
  if (held.length === 0) return {}
  const kept = cut(held)
  const total = held.length + unlisted
  if (kept.length === total) return { heldBack: kept }
  const rank = (one: HeldEntry) => `${heldWhys.indexOf(whyHeld(one))} ${one.until ?? ''}`
  const sorted = held.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))
  return { heldBack: cut(sorted), heldBackCount: total }
}

function cut(held: readonly HeldEntry[]): HeldEntry[] {
  let left = maxHeldBytes
  return held.slice(0, maxHeldBack).filter((one) => {
    left -= Buffer.byteLength(JSON.stringify(one))
    return left >= 0
  })
}

type RefusedEntry = Omit<NonNullable<ListingMemory['heldBack']>[number], 'version'>

/** The refusal of a Version that breaks callers; undefined if it is stored or does not. */
function breakRefusalOf({ status }: Pick<StoredObject, 'status'>): RefusedEntry | undefined {
  const { conditions, artifact, compared } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  const isRefused = ready?.status === 'False' && ready.reason === 'BreakingChange'
  if (!isRefused || artifact?.fileName !== undefined || compared === undefined) return undefined
  const { from, reasons = [] } = compared
  const message = `it breaks callers of ${from}: ${reasons.join(' ')}`.replace(/\.$/, '')
  return { since: ready.lastTransitionTime, why: 'Breaking', message }
}

/**
 * The refusal of a Version for its signer; undefined if there is none.
 *
 * @param signatureOwner whose policy asks for signatures, if any does
 */
function signerRefusalOf(
  { status }: Pick<StoredObject, 'status'>,
  signatureOwner?: PolicyOwner,
): RefusedEntry | undefined {
  const { conditions, artifact } = (status ?? {}) as NonNullable<Version['status']>
  const ready = readyIn(conditions)
  if (ready?.status !== 'False') return undefined
  // What is stored stays.
  const isUnsigned = ready.reason === 'Unsigned' && artifact?.fileName === undefined
  if (isUnsigned && signatureOwner !== undefined) {
    return {
      since: ready.lastTransitionTime,
      why: 'Unsigned',
      message: 'it has no signature, which requireSignature asks for',
      signedBy: '',
      ...(signatureOwner === 'Installation' && { by: 'Installation' }),
    }
  }
  if (ready.reason !== 'RuleRefused') return undefined
  const [, message = ready.message, whose, by = ''] =
    /^(.*) \(policy of (its Depot|the whole installation); it has (.*)\)$/s.exec(ready.message) ??
    []
  return {
    since: ready.lastTransitionTime,
    why: 'Refused',
    message: `${message} (it has ${by})`,
    signedBy: /^a signature by (.*)$/.exec(by)?.[1] ?? '',
    ...(whose === 'the whole installation' && { by: 'Installation' }),
  }
}
