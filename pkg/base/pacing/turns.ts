import { setImmediate } from 'node:timers/promises'

/** The default length of a turn. A request waits for one turn at most. */
const defaultMs = 5

/** Long work on the event loop, cut into turns between which requests are answered and timers run. */
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

  /** Gives way where it is time to. */
  async yieldIfDue(): Promise<void> {
    if (this.due) await this.yield()
  }

  /** Lets everything that is waiting run, then begins the next turn. */
  async yield(): Promise<void> {
    await setImmediate()
    this.#startedMs = performance.now()
  }
}
