import type { Clock } from '../../base/pacing/pacing.ts'

/** Answers have whole seconds, and take a moment to arrive. Smaller differences are ignored. */
const precisionMs = 5000

/** The clock of an API server, as far as its answers tell. Several machines that work on one cluster agree on it. */
export class ServerClock {
  readonly #own: Clock
  #aheadMs = 0

  /** @param own the clock of this machine, which counts until the first answer */
  constructor(own: Clock) {
    this.#own = own
  }

  readonly now: Clock = () => this.#own() + this.#aheadMs

  /** @param header of an answer that arrived now */
  learn(header: (name: string) => string | undefined): void {
    // An answer from a cache has an old time.
    if (header('age') !== undefined) return
    const aheadMs = Date.parse(header('date') ?? '') - this.#own()
    // Steps of a second would let time run backwards.
    if (Math.abs(aheadMs - this.#aheadMs) > precisionMs) this.#aheadMs = aheadMs
  }
}
