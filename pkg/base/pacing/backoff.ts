/** A number from 0 to below 1. */
export type Random = () => number

export interface BackoffOptions {
  /** The first wait, in milliseconds. It doubles with each failure. */
  readonly firstMs: number
  readonly capMs: number
  /**
   * The random part of a wait, so that clients do not return at the same time after an outage. `full`: the whole wait, which
   * spreads them best. `equal`: half of it, so that no wait is close to 0.
   */
  readonly jitter: 'full' | 'equal'
  /** Default: Math.random. */
  readonly random?: Random
}

/** The wait after a number of failures in a row, from 1. */
export function backoffMs(
  { firstMs, capMs, jitter, random = Math.random }: BackoffOptions,
  failures: number,
): number {
  const doublings = Math.min(Math.max(0, failures - 1), 30)
  const wholeMs = Math.min(capMs, firstMs * 2 ** doublings)
  return Math.round(jitter === 'full' ? wholeMs * random() : wholeMs * (0.5 + random() / 2))
}

/** Counts failures in a row, and returns the wait after each. */
export class Backoff {
  readonly #options: BackoffOptions
  #failures = 0

  constructor(options: BackoffOptions) {
    this.#options = options
  }

  nextMs(): number {
    this.#failures += 1
    return backoffMs(this.#options, this.#failures)
  }

  reset(): void {
    this.#failures = 0
  }
}
