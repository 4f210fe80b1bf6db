const largeBytes = 256 * 1024
const smallBytes = 64 * 1024
/** How many buffers of each size are kept for the next download: 3 MB in all. */
const keptLarge = 8
const keptSmall = 16

/**
 * The buffers that files are read into, used again and again. Large ones are what one or few downloads are fastest with;
 * when many run at once, those that come last get small ones, so that they do not add up.
 */
class ChunkBuffers {
  readonly #large: Buffer[] = []
  readonly #small: Buffer[] = []
  #largeInUse = 0

  /** @param wantedBytes what is left to be read; the buffer may be smaller, and is not much larger */
  take(wantedBytes: number): Buffer {
    if (wantedBytes <= smallBytes || this.#largeInUse >= keptLarge) {
      return this.#small.pop() ?? Buffer.allocUnsafeSlow(smallBytes)
    }
    this.#largeInUse += 1
    return this.#large.pop() ?? Buffer.allocUnsafeSlow(largeBytes)
  }

  /** Nothing may write into the buffer or read from it any more. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === largeBytes) {
      this.#largeInUse -= 1
      this.#large.push(buffer)
    } else if (this.#small.length < keptSmall) {
      this.#small.push(buffer)
    }
  }
}

/** One pool for the whole process, because memory is the process's. */
export const chunkBuffers = new ChunkBuffers()
