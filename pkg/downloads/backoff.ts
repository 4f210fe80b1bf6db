/** Waits that double with each failure, each a random part of that, so that replicas do not come back together. */
export class Backoff {
  readonly #options: {
    readonly firstMs: number
    readonly capMs: number
    readonly random: () => number
  }
  #failures = 0

  constructor(options: { firstMs: number; capMs: number; random: () => number }) {
    this.#options = options
  }

  nextMs(): number {
    const { firstMs, capMs, random } = this.#options
    const wholeMs = Math.min(capMs, firstMs * 2 ** Math.min(this.#failures, 30))
    this.#failures += 1
    return Math.round(wholeMs * (0.5 + random() / 2))
  }

  reset(): void {
    this.#failures = 0
  }
}
