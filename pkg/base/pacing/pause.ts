import { setTimeout as sleep } from 'node:timers/promises'

/**
 * Sleeps until the time is over or the signal aborts; never throws.
 *
 * @param onWaiting gets a function that ends the sleep early, and returns one that forgets it
 */
export async function pause(
  delayMs: number,
  signal: AbortSignal,
  onWaiting?: (wake: () => void) => () => void,
): Promise<void> {
  const awake = new AbortController()
  const wake = () => awake.abort()
  const forget = onWaiting?.(wake)
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted) wake()
  await sleep(delayMs, undefined, { signal: awake.signal }).catch(() => undefined)
  signal.removeEventListener('abort', wake)
  forget?.()
}
