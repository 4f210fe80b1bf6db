import { setTimeout as sleep } from 'node:timers/promises'

/** Waits that double from `firstMs` to `capMs`, each a random part of that, so that clients do not come back together. */
export class Backoff {
  readonly #options: { firstMs: number; capMs: number; random: () => number }
  #failures = 0

  constructor(options: { firstMs: number; capMs: number; random: () => number }) {
    this.#options = options
  }

  nextMs(): number {
    const { firstMs, capMs, random } = this.#options
    const wholeMs = Math.min(capMs, firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures += 1
    return Math.round(wholeMs * random())
  }

  reset(): void {
    this.#failures = 0
  }
}

/**
 * Sleeps until the time is over or the signal says stop; never throws.
 *
 * @param sooner is given what ends the sleep early, and returns how to take it back
 */
export async function pause(
  delayMs: number,
  signal: AbortSignal,
  sooner?: (wake: () => void) => () => void,
): Promise<void> {
  const awake = new AbortController()
  const wake = () => awake.abort()
  const forget = sooner?.(wake)
  signal.addEventListener('abort', wake, { once: true })
  if (signal.aborted) wake()
  await sleep(delayMs, undefined, { signal: awake.signal }).catch(() => undefined)
  signal.removeEventListener('abort', wake)
  forget?.()
}
