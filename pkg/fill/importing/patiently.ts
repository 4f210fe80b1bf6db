import { backoffMs, pause } from '../../base/pacing/pacing.ts'
import { SourceError } from '../sources/sources.ts'

/** How often what failed is tried again, and how long an upstream may ask to be left alone. */
const retries = 2
const longestWaitMs = 15 * 60_000
const waits = 20

export interface Patience {
  readonly signal: AbortSignal
  /** Called before each wait for an upstream that has a limit. */
  readonly onWait: (wait: { readonly ms: number; readonly message: string }) => void
  /** The first pause before what failed is tried again. Default: 1 s. */
  readonly retryMs?: number
}

/**
 * Asks an upstream again that was away for a moment, and waits where it has a limit, so that a long import does not end
 * because of either.
 *
 * @throws what the last attempt threw; what asking again cannot change at once
 */
export async function patiently<T>(
  ask: () => Promise<T>,
  { signal, onWait, retryMs = 1_000 }: Patience,
): Promise<T> {
  let failed = 0
  let waited = 0
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof SourceError)) throw error
      const { reason, retryAfterMs: ms, message } = error
      if (reason === 'RateLimited' && ms !== undefined && ms <= longestWaitMs && waited < waits) {
        waited += 1
        onWait({ ms, message })
        await pause(ms, signal)
      } else if (reason === 'FetchFailed' && failed < retries) {
        failed += 1
        const backoff = {
          firstMs: retryMs,
          capMs: 8 * retryMs,
          jitter: 'equal',
          random: Math.random,
        } as const
        await pause(backoffMs(backoff, failed), signal)
      } else throw error
      signal.throwIfAborted()
    }
  }
}
