/** Versions whose content upstream replaced while they waited to be old enough. */

import type { ListingMemory, ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import { isSameMark, type SeenVersion } from '../../policy/policy.ts'
import type { Context } from '../context.ts'
import { writeStatus } from '../status.ts'
import type { ParentStatus } from './report.ts'
import { listingOf } from './seen.ts'

const maxEvidence = 100

export type Evidence = NonNullable<ListingMemory['replaced']>[number]

/** Those whose content is not that of the last list. @param at RFC 3339 */
export function replacedIn(
  before: ReadonlyMap<string, SeenVersion> | undefined,
  now: ReadonlyMap<string, SeenVersion>,
  at: string,
): Evidence[] {
  if (before === undefined) return []
  return [...now].flatMap(([version, { mark }]) => {
    const seen = before.get(version)?.mark
    if (seen === undefined || mark === undefined || isSameMark(seen, mark)) return []
    return [{ version, at, seen, offered: mark }]
  })
}

/** The evidence that a status keeps, and the part of it that is new: a content raises one alarm, whoever sees it, and how often. */
function newEvidence(before: readonly Evidence[] = [], replaced: readonly Evidence[]) {
  const isKnown = ({ version, offered }: Evidence) =>
    before.some((one) => one.version === version && isSameMark(one.offered, offered))
  const fresh = replaced.filter((one) => !isKnown(one))
  const all = [...before, ...fresh].slice(-maxEvidence)
  return { all: all.length > 0 ? all : undefined, fresh }
}

/**
 * Writes a listing into the status of a Module or Provider, with evidence of versions that upstream replaced. Then raises the
 * alarm that a stored version raises, too, for those that the status did not know.
 *
 * @param change computed from the current listing; undefined removes it
 * @returns whether it is written
 */
export async function writeListing(
  context: Pick<Context, 'objects' | 'clock' | 'metrics'>,
  object: StoredObject,
  change: (before: ListingMemory | undefined) => ListingMemory | undefined,
  replaced: readonly Evidence[] = [],
): Promise<boolean> {
  let fresh: readonly Evidence[] = []
  let address = ''
  const written = await writeStatus<ParentStatus>(context, object, (status) => {
    const before = listingOf({ ...object, status })
    const listing = change(before)
    const isSameSource = before?.address === listing?.address
    const evidence = newEvidence(isSameSource ? before?.replaced : [], replaced)
    fresh = listing === undefined ? [] : evidence.fresh
    address = listing?.address ?? ''
    return {
      fields: { listing: listing && { ...listing, replaced: evidence.all } },
      conditions: {},
      // The resource is observed when its Versions exist.
      isObserved: false,
    }
  })
  if (written === undefined) return false
  const { metrics, objects } = context
  for (const { version, seen, offered } of fresh) {
    metrics.substituted(object.kind as ParentKind)
    const note = `${address} has other content under ${version} than before: ${offered} instead of ${seen}. It was not stored yet, and its age begins again`
    const reason = 'UpstreamSubstitution'
    objects.event({ object, type: 'Warning', reason, note: printable(note, 1024) })
  }
  return true
}
