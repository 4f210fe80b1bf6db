import { backoffMs, type Random } from '../../base/pacing/pacing.ts'
import type { Outcome } from './outcome.ts'
import type { Timings } from './timings.ts'

/** History of one watch, on which its recovery depends. */
export interface RecoveryState {
  /** The API server streams lists; an older one refuses. */
  readonly streams: boolean
  /** Lists in a row that did not come to their end. */
  readonly failedLists: number
  /** Failures in a row, of the sort after which the watch goes on where it was. */
  readonly failures: number
  /** Relists in a row, each soon after the previous one. */
  readonly relists: number
  readonly relistedMs: number
  readonly listedMs: number
  /** Outcomes since the last event, of the sort that asks for a list when it repeats. */
  readonly doubts: number
  /** Watches in a row that brought not one byte in all their time. */
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

/** Every how many failed lists one is read in pages instead of streamed. */
const pagesEvery = 3
const doubtsUntilList = 3
/** A proxy that buffers lets lists through and no watch: a source that only waits would never see a change again. */
const silencesUntilList = 2

/** An event or a bookmark came over a watch. */
export function afterProgress(state: RecoveryState): RecoveryState {
  if (state.failures === 0 && state.doubts === 0 && state.silences === 0) return state
  return { ...state, failures: 0, doubts: 0, silences: 0 }
}

/** A list came to its end. Silences count on: whether changes come too is not known yet. */
export function afterList(state: RecoveryState, nowMs: number): RecoveryState {
  return { ...state, failedLists: 0, failures: 0, doubts: 0, listedMs: nowMs }
}

/** Chooses how the next list is read. If watches bring nothing, a streamed list brings nothing either. */
export function nextList({ streams, failedLists, silences }: RecoveryState): 'stream' | 'pages' {
  const isPagesTurn = failedLists % pagesEvery === pagesEvery - 1
  return streams && !isPagesTurn && silences < silencesUntilList ? 'stream' : 'pages'
}

/** Tells whether watches bring nothing, so that changes come by lists only. */
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
 * @param listing whether it was a list that ended so, and not a watch
 * @param silent whether not one byte of a body came
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
    // The server knows best; a little later than it says, so that not everybody comes at once.
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
