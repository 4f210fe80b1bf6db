/**
 * Repeats a task, never twice at a time. The task returns the wait until the next run, in milliseconds,
 * and handles its own errors.
 */
export class Loop {
  readonly #task: () => Promise<number>
  #timer: NodeJS.Timeout | undefined
  #dueAt = Infinity
  #running: Promise<void> | undefined
  #closed = false

  constructor(task: () => Promise<number>) {
    this.#task = task
  }

  /** Asks for a run within `delayMs`; a run that is due earlier stays as it is. */
  schedule(delayMs: number): void {
    const dueAt = performance.now() + delayMs
    if (this.#closed || dueAt >= this.#dueAt) return
    this.#dueAt = dueAt
    if (this.#running !== undefined) return
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#running = this.#run()
    }, delayMs)
  }

  /** Resolves when a run in progress has ended. */
  async close(): Promise<void> {
    this.#closed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  async #run(): Promise<void> {
    this.#dueAt = Infinity
    const delayMs = await this.#task()
    const askedMs = this.#dueAt - performance.now()
    this.#dueAt = Infinity
    this.#running = undefined
    this.schedule(Math.max(0, Math.min(delayMs, askedMs)))
  }
}
