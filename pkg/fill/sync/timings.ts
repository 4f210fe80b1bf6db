/** How long things may take, and how often they are done, in milliseconds. */
export interface SyncTimings {
  readonly listMs: number
  readonly fetchMs: number
  readonly uploadMs: number
  /** How often it is looked whether a stored archive is there. */
  readonly verifyMs: number
  /** How often all of a stored archive is read and hashed. */
  readonly rehashMs: number
  /** How long the archive of a deleted Version stays, so that servers have seen the deletion. */
  readonly archiveDeleteDelayMs: number
  /** How long an archive that another one replaced stays. */
  readonly replacedMs: number
  /** How often a forceSync of one object is followed. */
  readonly forceSyncMs: number
  /** When what is stalled is looked at again. */
  readonly stalledMs: number
  /** The same where a Secret is missing or wrong: no event tells when it is not any more. */
  readonly secretMs: number
  /** How long a fetched archive is kept for a storage that is away. */
  readonly heldMs: number
  /** How long a fetched archive waits for room to be rewritten in. */
  readonly roomMs: number
  readonly sweepMs: number
  /** A fetch that takes longer than this is reported in the status; most take less, and cost no write. */
  readonly progressMs: number
}

const second = 1_000
const minute = 60 * second
const hour = 60 * minute

export const defaultTimings: SyncTimings = {
  listMs: minute,
  fetchMs: 30 * minute,
  uploadMs: 30 * minute,
  verifyMs: 24 * hour,
  rehashMs: 30 * 24 * hour,
  archiveDeleteDelayMs: minute,
  replacedMs: 10 * minute,
  forceSyncMs: 10 * minute,
  stalledMs: hour,
  secretMs: 5 * minute,
  heldMs: hour,
  roomMs: 2 * minute,
  sweepMs: 24 * hour,
  progressMs: 5 * second,
}

/** When to look again at what only a change can help. */
export function stalledWaitMs(
  { stalledMs, secretMs }: SyncTimings,
  reasons: readonly string[],
  text: string,
): number {
  return jittered(reasons.includes('SecretInvalid') ? secretMs : stalledMs, text)
}

/** A part of an interval that is the same for the same text, from 0.9 to 1.1, so that not everything is due at once. */
export function jittered(intervalMs: number, text: string): number {
  let hash = 2166136261
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0
  }
  return intervalMs * (0.9 + (hash % 1000) / 5000)
}
