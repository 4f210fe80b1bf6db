const newline = 10

/**
 * Cuts a stream of bytes into lines. Only whole lines become text, so a character that is split over two chunks stays
 * whole.
 */
export class LineSplitter {
  #parts: Buffer[] = []
  #bytes = 0

  /** Bytes of the line that has begun. */
  get pendingBytes(): number {
    return this.#bytes
  }

  /** The lines that a chunk completes, without empty ones. */
  *push(chunk: Buffer): Generator<string> {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      const line = this.#complete(chunk.subarray(start, end))
      if (line !== '') yield line
      start = end + 1
    }
    if (start === chunk.length) return
    this.#parts.push(chunk.subarray(start))
    this.#bytes += chunk.length - start
  }

  #complete(last: Buffer): string {
    if (this.#parts.length === 0) return last.toString()
    const line = Buffer.concat([...this.#parts, last]).toString()
    this.#parts = []
    this.#bytes = 0
    return line
  }
}
