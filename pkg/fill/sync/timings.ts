import type { Reconciled } from '../queue/queue.ts'

/** Durations and intervals of the work, in milliseconds. */
export interface SyncTimings {
  readonly listMs: number
  readonly fetchMs: number
  readonly uploadMs: number
  /** How often to check that a stored archive exists. */
  readonly verifyMs: number
  /** How often to read and hash all of a stored archive. */
  readonly rehashMs: number
  /** How long an archive stays in storage after the last Version that names it. */
  readonly removalGraceMs: number
  /** Minimum time between two forced syncs of an object. */
  readonly forceSyncMs: number
  /** When to look at a stalled object again. */
  readonly stalledMs: number
  /** The same if a Secret is missing or wrong: no event reports when the Secret is corrected. */
  readonly secretMs: number
  /** When to fetch a refused archive again. The wait doubles with each refusal. */
  readonly refusedMs: number
  readonly longestRefusedMs: number
  /** How long to keep a fetched archive while storage is unavailable. */
  readonly heldMs: number
  /** How long a fetched archive waits for space in the spool to be rewritten. */
  readonly roomMs: number
  readonly sweepMs: number
  /** A fetch that takes longer is reported in the status; most take less time and cost no write. */
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
  removalGraceMs: 24 * hour,
  forceSyncMs: 10 * minute,
  stalledMs: hour,
  refusedMs: minute,
  longestRefusedMs: 5 * hour,
  secretMs: 5 * minute,
  heldMs: hour,
  roomMs: 2 * minute,
  sweepMs: 24 * hour,
  progressMs: 5 * second,
}

/** How often to ask upstream about an object whose Depot or owner is missing from the folder. */
export const absenceMs = 30 * second

/** Aborts with a signal, and after a time. */
export const within = (signal: AbortSignal, ms: number): AbortSignal =>
  AbortSignal.any([signal, AbortSignal.timeout(ms)])

/** When to look again at an object that only a change can help. */
export function stalledWaitMs(
  { stalledMs, secretMs }: SyncTimings,
  reasons: readonly string[],
  text: string,
): number {
  return jittered(reasons.includes('SecretInvalid') ? secretMs : stalledMs, text)
}

/** 0.9 to 1.1 of an interval, always the same for the same text, so that not everything is due at once. */
export function jittered(intervalMs: number, text: string): number {
  let hash = 2166136261
  for (let i = 0; i < text.length; i += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 16777619) >>> 0
  }
  return intervalMs * (0.9 + (hash % 1000) / 5000)
}

/** RFC 3339 in whole seconds, as Kubernetes writes times. */
export function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** A time in milliseconds since 1970; undefined if it is absent or cannot be read. */
export function msOf(time: string | undefined): number | undefined {
  const ms = time === undefined ? Number.NaN : Date.parse(time)
  return Number.isNaN(ms) ? undefined : ms
}

/** Usual limit of the difference between the clocks of replicas. */
const skewMs = 60_000

/** The time of a past event, or 0. A time in the future comes from a clock that was wrong, and is ignored. */
export function pastMsOf(time: string | undefined, nowMs: number): number {
  const ms = msOf(time) ?? 0
  return ms > nowMs + skewMs ? 0 : ms
}

/** Work again after the shortest of some waits; never if there are none. */
export function soonest(...waits: readonly (number | undefined)[]): Reconciled {
  const known = waits.filter((ms) => ms !== undefined).filter((ms) => Number.isFinite(ms))
  return known.length === 0 ? {} : { afterMs: Math.max(0, Math.min(...known)) }
}
