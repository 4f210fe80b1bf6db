/** Callers that ask for the same key at the same time share one answer. */
export class SingleFlight<V> {
  readonly #running = new Map<string, Promise<V>>()
  readonly #max: number
  readonly #overload: () => Error

  /**
   * @param max maximum of different keys that run
   * @param overload creates the error for one more
   */
  constructor({ max, overload }: { readonly max: number; readonly overload: () => Error }) {
    this.#max = max
    this.#overload = overload
  }

  run(key: string, start: () => Promise<V>): Promise<V> {
    const running = this.#running.get(key)
    if (running !== undefined) return running
    if (this.#running.size >= this.#max) return Promise.reject(this.#overload())
    const started = start().finally(() => this.#running.delete(key))
    this.#running.set(key, started)
    return started
  }
}
