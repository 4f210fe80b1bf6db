import type { Candidate } from './candidate.ts'

/** Archives that could not be stored, kept for a while so that they are not fetched again when storage is back. */
export class HeldArchives {
  readonly #heldMs: number
  readonly #held = new Map<string, { candidate: Candidate; timer: NodeJS.Timeout }>()

  constructor(heldMs: number) {
    this.#heldMs = heldMs
  }

  /** @param key names the Version and what it is made from */
  async keep(key: string, candidate: Candidate): Promise<void> {
    await this.drop(key)
    const timer = setTimeout(() => void this.drop(key), this.#heldMs)
    timer.unref()
    this.#held.set(key, { candidate, timer })
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
    for (const key of Array.from(this.#held.keys())) await this.drop(key)
  }
}
