import { hash } from 'node:crypto'
import type { Context } from '../context.ts'
import { jittered, msOf, timeOf } from '../timings.ts'
import type { SyncAttempt, VersionStatus, VersionWork } from './work.ts'

type Attempted = NonNullable<VersionStatus['attempted']>

/** Names what an attempt depends on: other limits or allowed hosts may accept an archive that was refused. */
export function attemptKey({ limits, policy }: Context, sourceKey: string): string {
  const text = JSON.stringify([sourceKey, limits, policy])
  return `sha256:${hash('sha256', text).slice(0, 32)}`
}

/**
 * Remembers a refusal, for a transfer may have damaged the archive. Undefined if nothing was found to fetch.
 *
 * @param isFinal whether the same archive is refused again whenever it is tried
 */
export function attemptedNow(
  { clock }: Context,
  { key, revision }: SyncAttempt,
  before: Attempted | undefined,
  isFinal: boolean,
): Attempted | undefined {
  if (key === undefined || revision === undefined) return undefined
  const isSame = before?.sourceKey === key && before.revision === revision
  if (isSame && isFinal) return before
  const failures = isSame ? (before.failures ?? 1) + 1 : 1
  return { sourceKey: key, revision, at: timeOf(clock()), failures }
}

/** The refusal of the same archive, if one is remembered. */
export function refusedBefore({
  version: { metadata, status },
  attempt: { key, revision },
}: Pick<VersionWork, 'version' | 'attempt'>): Attempted | undefined {
  const { attempted, observedGeneration } = status ?? {}
  const isSame = attempted?.sourceKey === key && attempted?.revision === revision
  return isSame && observedGeneration === metadata.generation ? attempted : undefined
}

/** How long to wait before a refused archive is fetched again; 0 if it is due. */
export function refusedWaitMs(
  { clock, timings, pollSinceMs }: Context,
  uid: string,
  { at, failures = 1 }: Attempted,
): number {
  const atMs = msOf(at) ?? 0
  // Times in a status are whole seconds.
  if (atMs + 1000 <= pollSinceMs) return 0
  const waitMs = Math.min(timings.longestRefusedMs, timings.refusedMs * 2 ** (failures - 1))
  return Math.max(0, atMs + jittered(waitMs, uid) - clock())
}
