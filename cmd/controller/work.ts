import { messageOf } from '../../pkg/base/errors/errors.ts'
import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'

/** What runs while the lease is held. */
interface Running {
  stop(): Promise<void>
}

/** Runs the reconcilers while the lease is held: never twice at a time, and not before everything is in memory. */
export class WorkWhileHeld {
  readonly #log: Logger
  #start: (() => Promise<Running>) | undefined
  #signal: AbortSignal | undefined
  #running: Running | undefined
  /** What was begun last; the next one waits for its end. */
  #turn: Promise<void> = Promise.resolve()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Everything is in memory. */
  begin(start: () => Promise<Running>): void {
    this.#start = start
    this.#next()
  }

  /** The lease was won. */
  held(signal: AbortSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#next(), { once: true })
    this.#next()
  }

  async stop(): Promise<void> {
    this.#start = undefined
    this.#next()
    await this.#turn
  }

  #next(): void {
    this.#turn = this.#turn
      .then(() => this.#settle())
      .catch((err: unknown) => this.#log.error({ err, error: messageOf(err) }, 'work not begun'))
  }

  async #settle(): Promise<void> {
    const start = this.#signal?.aborted === false ? this.#start : undefined
    if (start !== undefined) this.#running ??= await start()
    else if (this.#running !== undefined) {
      const running = this.#running
      this.#running = undefined
      await running.stop()
    }
  }
}
