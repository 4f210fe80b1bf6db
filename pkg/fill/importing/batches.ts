import { pause } from '../../base/pacing/pacing.ts'

/** Least time between two writes to a file. */
const gapMs = 100
/** Writing takes at most this fraction of the time: 1/10. */
const share = 10

interface Waiting<T> {
  readonly items: T[]
  readonly written: Promise<void>
}

/**
 * Collects additions to a file, because each write takes longer as the file grows. The first addition is written at once;
 * additions during a write, and for a moment after it, go into the next write.
 */
export class Batches<T> {
  readonly #write: (key: string, items: readonly T[]) => Promise<void>
  readonly #waiting = new Map<string, Waiting<T>>()
  /** Resolves when the next write to a file may begin. */
  readonly #free = new Map<string, Promise<void>>()
  readonly #hurry = new AbortController()

  /** @param write writes to the file with this name; calls for one file never overlap */
  constructor(write: (key: string, items: readonly T[]) => Promise<void>) {
    this.#write = write
  }

  /** Resolves when an item is written. @throws the error of the write */
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

  /** Writes at once from now on. */
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
