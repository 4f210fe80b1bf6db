import { pause } from '../../base/pacing/pacing.ts'

/** So soon after a write the next one begins at the earliest. */
const gapMs = 100
/** Writing takes at most one part of so many of the time. */
const share = 10

interface Waiting<T> {
  readonly items: T[]
  readonly written: Promise<void>
}

/**
 * Gathers what is to be written to a file, for a write takes the longer the more the file holds: what comes while one is
 * written, and for a moment after it, goes into the next. The first one is written at once.
 */
export class Batches<T> {
  readonly #write: (key: string, items: readonly T[]) => Promise<void>
  readonly #waiting = new Map<string, Waiting<T>>()
  /** When the last write to a file has ended, and the next one may begin. */
  readonly #free = new Map<string, Promise<void>>()
  readonly #hurry = new AbortController()

  /** @param write writes to the file of this name; never called for one while another call for it runs */
  constructor(write: (key: string, items: readonly T[]) => Promise<void>) {
    this.#write = write
  }

  /** Resolves when an item is written. @throws what writing it throws */
  add(key: string, item: T): Promise<void> {
    const waiting = this.#waiting.get(key)
    if (waiting !== undefined) {
      waiting.items.push(item)
      return waiting.written
    }
    const items = [item]
    const written = this.#next(key, items)
    this.#waiting.set(key, { items, written })
    return written
  }

  /** From now on nothing waits for more to come. */
  hurry(): void {
    this.#hurry.abort()
  }

  async #next(key: string, items: readonly T[]): Promise<void> {
    const free = Promise.withResolvers<void>()
    const before = this.#free.get(key)
    this.#free.set(key, free.promise)
    await before
    this.#waiting.delete(key)
    const beganMs = performance.now()
    try {
      await this.#write(key, items)
    } finally {
      const waitMs = Math.max(gapMs, (share - 1) * (performance.now() - beganMs))
      void pause(waitMs, this.#hurry.signal).then(free.resolve)
    }
  }
}
