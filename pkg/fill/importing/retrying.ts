import { backoffMs, pause } from '../../base/pacing/pacing.ts'
import { FillError } from '../sources/sources.ts'

/** How often failed work is tried again. */
const retries = 2
/** Reasons of failures that may pass in a moment. */
const passing: ReadonlySet<string> = new Set(['FetchFailed', 'UpstreamTimeout'])
/** Longest wait that an upstream may ask for, and how many such waits there may be. */
const longestWaitMs = 15 * 60_000
const waits = 20

export interface RetryOptions {
  readonly signal: AbortSignal
  /** Called before each wait for an upstream that limits requests. */
  readonly onWait: (wait: { readonly ms: number; readonly message: string }) => void
  /** First pause before failed work is tried again. Default: 1 s. */
  readonly retryMs?: number | undefined
}

/**
 * Tries work again if an upstream fails for a moment or limits requests, so that neither ends a long import.
 *
 * @throws the last attempt's error, and at once any error that another attempt cannot help
 */
export async function retrying<T>(
  work: () => Promise<T>,
  { signal, onWait, retryMs = 1_000 }: RetryOptions,
): Promise<T> {
  const backoff = { firstMs: retryMs, capMs: 8 * retryMs, jitter: 'equal' } as const
  let failed = 0
  let waited = 0
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof FillError)) throw error
      const { reason, retryAfterMs: ms, message } = error
      if (reason === 'RateLimited' && ms !== undefined && ms <= longestWaitMs && waited < waits) {
        waited += 1
        onWait({ ms, message })
        await pause(ms, signal)
      } else if (passing.has(reason) && failed < retries) {
        failed += 1
        await pause(backoffMs(backoff, failed), signal)
      } else throw error
      signal.throwIfAborted()
    }
  }
}
