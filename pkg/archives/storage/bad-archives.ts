import { Bounded } from '../../base/memory/memory.ts'
import type { Clock } from '../../base/pacing/pacing.ts'

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
  readonly #bad: Bounded<Bad>
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#bad = new Bounded({ maxEntries: maxRemembered, clock })
    this.#clock = clock
  }

  add(key: string, fingerprint: string | undefined): void {
    const untilMs = this.#clock() + badForMs
    this.#bad.set(key, { untilMs, fingerprint, reviewedMs: 0 }, untilMs)
  }

  /** For how many more seconds an archive counts as bad while its object stays as it is; 0 where it does not. */
  secondsLeft(key: string): number {
    const bad = this.#bad.get(key)
    return bad === undefined ? 0 : Math.max(0, Math.ceil((bad.untilMs - this.#clock()) / 1000))
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
