/** Versions whose content upstream replaced while they waited to be old enough. */

import type { ListingMemory, ParentKind } from '../../../api/v1alpha1/v1alpha1.ts'
import { printable } from '../../../base/errors/errors.ts'
import type { StoredObject } from '../../../records/store/store.ts'
import type { SeenVersion } from '../../policy/policy.ts'
import type { Context } from '../context.ts'

const maxEvidence = 10

type Evidence = NonNullable<ListingMemory['replaced']>[number]

/** Those whose content is not that of the last list. @param at RFC 3339 */
export function replacedIn(
  before: ReadonlyMap<string, SeenVersion> | undefined,
  now: ReadonlyMap<string, SeenVersion>,
  at: string,
): Evidence[] {
  if (before === undefined) return []
  return [...now].flatMap(([version, { mark }]) => {
    const seen = before.get(version)?.mark
    if (seen === undefined || mark === undefined || seen === mark) return []
    return [{ version, at, seen, offered: mark }]
  })
}

/** The evidence that a status keeps, and the part of it that is new. Two mirrors that differ raise two alarms, not one a poll. */
export function newEvidence(
  before: readonly Evidence[] = [],
  replaced: readonly Evidence[],
): { readonly all: Evidence[] | undefined; readonly fresh: readonly Evidence[] } {
  const isKnown = ({ version, offered }: Evidence) =>
    before.some((one) => one.version === version && one.offered === offered)
  const fresh = replaced.filter((one) => !isKnown(one))
  const all = [...before, ...fresh].slice(-maxEvidence)
  return { all: all.length > 0 ? all : undefined, fresh }
}

/** Raises the alarm that a stored version raises, too. @param object the Version, or its Module or Provider */
export function reportReplaced(
  { metrics, objects }: Pick<Context, 'metrics' | 'objects'>,
  object: StoredObject,
  address: string,
  replaced: readonly Omit<Evidence, 'at'>[],
): void {
  for (const { version, seen, offered } of replaced) {
    const { type = object.kind } = object.spec as { readonly type?: string }
    metrics.substituted(type as ParentKind)
    const note = `${address} has other content under ${version} than before: ${offered} instead of ${seen}. It was not stored yet, and its age begins again`
    const reason = 'UpstreamSubstitution'
    objects.event({ object, type: 'Warning', reason, note: printable(note, 1024) })
  }
}
