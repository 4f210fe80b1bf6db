import { setImmediate } from 'node:timers/promises'

/** The default length of a turn. A request waits for one turn at most. */
const defaultMs = 5

/** Cuts long work on the event loop into turns; requests are answered and timers run between them. */
export class Turns {
  readonly #maxMs: number
  #startedMs = performance.now()

  constructor(maxMs = defaultMs) {
    this.#maxMs = maxMs
  }

  /** True once this turn has taken long enough. */
  get due(): boolean {
    return performance.now() - this.#startedMs >= this.#maxMs
  }

  /** Yields if the turn has taken long enough. */
  async yieldIfDue(): Promise<void> {
    if (this.due) await this.yield()
  }

  /** Lets waiting work run, then begins the next turn. */
  async yield(): Promise<void> {
    await setImmediate()
    this.#startedMs = performance.now()
  }
}
