interface Waiting<T> {
  readonly items: T[]
  readonly written: Promise<void>
}

/**
 * Collects additions to a file, because each write takes longer as the file grows: additions during a write go into the
 * next one.
 */
export class Batches<T> {
  readonly #write: (key: string, items: readonly T[]) => Promise<void>
  readonly #waiting = new Map<string, Waiting<T>>()
  /** The end of the last write to a file. */
  readonly #last = new Map<string, Promise<void>>()

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
    this.#last.set(
      key,
      written.catch(() => undefined),
    )
    return written
  }

  async #next(key: string, items: readonly T[]): Promise<void> {
    await this.#last.get(key)
    this.#waiting.delete(key)
    await this.#write(key, items)
  }
}
