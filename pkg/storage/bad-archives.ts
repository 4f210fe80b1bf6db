const badForMs = 60_000
const maxRemembered = 10_000
/** A storm of requests must not become one of questions whether an object has changed. */
const reviewEveryMs = 1000

interface Bad {
  readonly untilMs: number
  /** Of the object that was found wrong. */
  readonly fingerprint: string | undefined
  reviewedMs: number
}

/** Archives whose bytes were found wrong a short time ago: a storm of requests must not read them again and again. */
export class BadArchives {
  readonly #bad = new Map<string, Bad>()
  readonly #clock: () => number

  /** @param now milliseconds since 1970 */
  constructor(clock: () => number) {
    this.#clock = clock
  }

  add(key: string, fingerprint: string | undefined): void {
    this.#bad.delete(key)
    const nowMs = this.#clock()
    this.#bad.set(key, { untilMs: nowMs + badForMs, fingerprint, reviewedMs: 0 })
    if (this.#bad.size <= maxRemembered) return
    for (const oldest of this.#bad.keys()) {
      this.#bad.delete(oldest)
      break
    }
  }

  /** For how many more seconds an archive counts as bad while its object stays as it is; 0 where it does not. */
  secondsLeft(key: string): number {
    const bad = this.#bad.get(key)
    if (bad === undefined) return 0
    const leftMs = bad.untilMs - this.#clock()
    if (leftMs <= 0) this.#bad.delete(key)
    return Math.max(0, Math.ceil(leftMs / 1000))
  }

  /** Whether to look again what the object is; true for one caller a second. */
  isDue(key: string): boolean {
    const bad = this.#bad.get(key)
    if (bad === undefined || this.#clock() - bad.reviewedMs < reviewEveryMs) return false
    bad.reviewedMs = this.#clock()
    return true
  }

  /** Takes note of what the object is now: another one is not bad any more. */
  review(key: string, fingerprint: string | undefined): void {
    const bad = this.#bad.get(key)
    if (bad !== undefined && bad.fingerprint !== fingerprint) this.#bad.delete(key)
  }
}
