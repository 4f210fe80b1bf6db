import { messageOf } from '../../pkg/base/errors/errors.ts'
import type { Logger } from '../../pkg/base/telemetry/telemetry.ts'

/** Work that is stopped when the lease is lost. */
export interface Running {
  stop(): Promise<void>
}

/** Runs one set of reconcilers at a time, while the lease is held and all records are in memory. */
export class WorkWhileHeld {
  readonly #log: Logger
  #start: (() => Promise<Running>) | undefined
  #signal: AbortSignal | undefined
  #running: Running | undefined
  /** The last start or stop; the next one waits until it has ended. */
  #turn: Promise<void> = Promise.resolve()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Call it once all records are in memory. */
  begin(start: () => Promise<Running>): void {
    this.#start = start
    this.#next()
  }

  /** Call it when the lease is won. @param signal aborted when it is lost */
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
      .catch((err: unknown) =>
        this.#log.error({ err, error: messageOf(err) }, 'reconcilers could not be started'),
      )
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
