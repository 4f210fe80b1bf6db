import { backoffMs, type Random } from '../../base/pacing/pacing.ts'
import type { Outcome } from './outcome.ts'
import type { Timings } from './timings.ts'

/** History of one watch, on which its recovery depends. */
export interface RecoveryState {
  /** Whether the API server streams lists. An older one refuses. */
  readonly streams: boolean
  /** Consecutive lists that did not complete. */
  readonly failedLists: number
  /** Consecutive failures after which the watch continues where it was. */
  readonly failures: number
  /** Consecutive lists, each soon after the previous one. */
  readonly relists: number
  readonly relistedMs: number
  readonly listedMs: number
  /** Outcomes since the last event that require a list when they repeat. */
  readonly doubts: number
  /** Consecutive watches that did not deliver a single byte. */
  readonly silences: number
}

export const untried: RecoveryState = {
  streams: true,
  failedLists: 0,
  failures: 0,
  relists: 0,
  relistedMs: Number.NEGATIVE_INFINITY,
  listedMs: 0,
  doubts: 0,
  silences: 0,
}

/** After how many failed lists one is read in pages instead of streamed. */
const pagesEvery = 3
const doubtsUntilList = 3
/** A buffering proxy lets lists through, but no watch. A source that only waits would never see a change again. */
const silencesUntilList = 2

/** A watch delivered an event or a bookmark. */
export function afterProgress(state: RecoveryState): RecoveryState {
  if (state.failures === 0 && state.doubts === 0 && state.silences === 0) return state
  return { ...state, failures: 0, doubts: 0, silences: 0 }
}

/** A list is complete. It does not reset silences, because changes may still not arrive. */
export function afterList(state: RecoveryState, nowMs: number): RecoveryState {
  return { ...state, failedLists: 0, failures: 0, doubts: 0, listedMs: nowMs }
}

/** Chooses how to read the next list. If watches deliver nothing, a streamed list delivers nothing either. */
export function nextList({ streams, failedLists, silences }: RecoveryState): 'stream' | 'pages' {
  const isPagesTurn = failedLists % pagesEvery === pagesEvery - 1
  return streams && !isPagesTurn && silences < silencesUntilList ? 'stream' : 'pages'
}

/** Whether watches deliver nothing, so that only lists deliver changes. */
export function isSilent({ silences }: RecoveryState): boolean {
  return silences >= silencesUntilList
}

export interface Recovery {
  readonly state: RecoveryState
  /** A list of everything is due. */
  readonly relist: boolean
  readonly delayMs: number
}

/**
 * Decides what follows the end of a request.
 *
 * @param listing whether it was a list, not a watch
 * @param silent whether no byte of a body arrived
 */
export function recover(
  outcome: Pick<Outcome, 'reason' | 'relist' | 'wait' | 'retryAfterMs'>,
  before: RecoveryState,
  context: {
    readonly listing: boolean
    readonly silent: boolean
    readonly nowMs: number
    readonly timings: Timings
    readonly random: Random
  },
): Recovery {
  const { reason } = outcome
  const { listing, nowMs, timings } = context
  if (listing && reason === 'BadRequest' && before.streams) {
    return { state: { ...before, streams: false }, relist: false, delayMs: 0 }
  }
  const isSilence = context.silent && !listing && (reason === 'Timeout' || reason === 'StreamIdle')
  const state = {
    ...before,
    failedLists: before.failedLists + (listing ? 1 : 0),
    doubts: before.doubts + (outcome.relist === 'repeated' && !listing ? 1 : 0),
    silences: before.silences + (isSilence ? 1 : 0),
  }
  const relist =
    !listing &&
    (outcome.relist === 'always' ||
      state.doubts >= doubtsUntilList ||
      (isSilence && isSilent(state)))
  if (!outcome.wait && !relist) return { state, relist, delayMs: 0 }
  const backoff = (failures: number) => {
    const { backoffMs: firstMs, backoffCapMs: capMs } = timings
    return backoffMs({ firstMs, capMs, jitter: 'full', random: context.random }, failures)
  }
  if (outcome.retryAfterMs > 0) {
    // The server's delay, plus a little, so that clients do not return at the same moment.
    const askedMs = Math.min(outcome.retryAfterMs, timings.retryAfterCapMs)
    return { state, relist, delayMs: askedMs + context.random() * timings.backoffMs }
  }
  if (!relist) {
    const failures = state.failures + 1
    return { state: { ...state, failures }, relist, delayMs: backoff(failures) }
  }
  // Each restart of an API server makes watches expire, which must not increase the delay each time.
  const [sinceMs, forgetMs] =
    reason === 'RevisionExpired'
      ? [state.listedMs, timings.shortWatchMs]
      : [state.relistedMs, timings.backoffForgetMs]
  const relists = nowMs - sinceMs > forgetMs ? 1 : state.relists + 1
  return { state: { ...state, relists, relistedMs: nowMs }, relist, delayMs: backoff(relists) }
}
