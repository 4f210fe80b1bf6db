const badForMs = 60_000
const maxRemembered = 10_000

/** Archives whose bytes were found wrong a short time ago: a storm of requests must not read them again and again. */
export class BadArchives {
  readonly #untilMs = new Map<string, number>()
  readonly #now: () => number

  /** @param now ms since 1970 */
  constructor(now: () => number) {
    this.#now = now
  }

  add(key: string): void {
    this.#untilMs.delete(key)
    this.#untilMs.set(key, this.#now() + badForMs)
    if (this.#untilMs.size <= maxRemembered) return
    for (const oldest of this.#untilMs.keys()) {
      this.#untilMs.delete(oldest)
      break
    }
  }

  /** For how many more seconds an archive counts as bad; 0 where it does not. */
  secondsLeft(key: string): number {
    const untilMs = this.#untilMs.get(key)
    if (untilMs === undefined) return 0
    const leftMs = untilMs - this.#now()
    if (leftMs <= 0) this.#untilMs.delete(key)
    return Math.max(0, Math.ceil(leftMs / 1000))
  }
}
