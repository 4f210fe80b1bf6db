import type { Spool } from '../../../archives/spool/spool.ts'
import type { Candidate } from './work.ts'

/**
 * Archives that could not be stored, kept for a while so that they need not be fetched again. If other fetches wait for room
 * in the spool, the oldest are dropped: an unavailable storage must not delay archives for other storages.
 */
export class HeldArchives {
  readonly #heldMs: number
  readonly #spool: Pick<Spool, 'waiting' | 'onFull'>
  readonly #ignore: () => void
  /** The oldest first. */
  readonly #held = new Map<string, { candidate: Candidate; timer: NodeJS.Timeout }>()

  constructor(heldMs: number, spool: Pick<Spool, 'waiting' | 'onFull'>) {
    this.#heldMs = heldMs
    this.#spool = spool
    this.#ignore = spool.onFull(() => void this.#makeRoom())
  }

  /** @param key names the Version, its source and revision */
  async keep(key: string, candidate: Candidate): Promise<void> {
    await this.drop(key)
    const timer = setTimeout(() => void this.drop(key), this.#heldMs)
    timer.unref()
    this.#held.set(key, { candidate, timer })
    await this.#makeRoom()
  }

  take(key: string): Candidate | undefined {
    const held = this.#held.get(key)
    clearTimeout(held?.timer)
    this.#held.delete(key)
    return held?.candidate
  }

  async drop(key: string): Promise<void> {
    await this.take(key)?.file.remove()
  }

  async close(): Promise<void> {
    this.#ignore()
    for (const key of Array.from(this.#held.keys())) await this.drop(key)
  }

  async #makeRoom(): Promise<void> {
    for (const key of Array.from(this.#held.keys())) {
      if (this.#spool.waiting === 0) return
      await this.drop(key)
    }
  }
}
