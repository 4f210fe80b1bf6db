import { setImmediate } from 'node:timers/promises'

const sliceMs = 5

/** Long work in slices: whoever serves requests in this process waits for one slice at most. */
export class Slice {
  #startedMs = performance.now()

  get over(): boolean {
    return performance.now() - this.#startedMs > sliceMs
  }

  /** Lets everything that is waiting run, then begins the next slice. */
  async next(): Promise<void> {
    await setImmediate()
    this.#startedMs = performance.now()
  }
}
