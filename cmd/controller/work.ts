import { messageOf } from '../../pkg/errors/errors.ts'
import { type Sync, type SyncOptions, startSync } from '../../pkg/sync/sync.ts'
import type { Logger } from '../../pkg/telemetry/telemetry.ts'

/** Runs the reconcilers while the lease is held: never twice at a time, and not before everything is in memory. */
export class WorkWhileHeld {
  readonly #log: Logger
  #options: SyncOptions | undefined
  #signal: AbortSignal | undefined
  #running: Sync | undefined
  /** What was begun last; the next one waits for its end. */
  #turn: Promise<void> = Promise.resolve()

  constructor(log: Logger) {
    this.#log = log
  }

  /** Everything is in memory. */
  begin(options: SyncOptions): void {
    this.#options = options
    this.#next()
  }

  /** The lease was won. */
  held(signal: AbortSignal): void {
    this.#signal = signal
    signal.addEventListener('abort', () => this.#next(), { once: true })
    this.#next()
  }

  async stop(): Promise<void> {
    this.#options = undefined
    this.#next()
    await this.#turn
  }

  #next(): void {
    this.#turn = this.#turn
      .then(() => this.#settle())
      .catch((err: unknown) => this.#log.error({ err, error: messageOf(err) }, 'work not begun'))
  }

  async #settle(): Promise<void> {
    const isWanted = this.#options !== undefined && this.#signal?.aborted === false
    if (isWanted && this.#running === undefined && this.#options !== undefined) {
      this.#running = await startSync(this.#options)
    } else if (!isWanted && this.#running !== undefined) {
      const running = this.#running
      this.#running = undefined
      await running.stop()
    }
  }
}
