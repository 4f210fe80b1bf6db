/** A part of a process that is started and stopped. */
export interface Runnable {
  /** Name in the log, such as `http`. */
  readonly name: string
  /**
   * Resolves when the part works; then the next group starts. Default: it works already.
   *
   * @param signal aborted when the process is to stop before everything has started
   * @throws if the part cannot start, which ends the process
   */
  start?(signal: AbortSignal): void | Promise<void>
  /** @param graceMs time for running work before it is aborted */
  stop?(graceMs: number): void | Promise<void>
}
