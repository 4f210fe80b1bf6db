import { type FileHandle, open, unlink } from 'node:fs/promises'

const chunkBytes = 256 * 1024

/** Part of the scratch file. */
export interface Extent {
  readonly start: number
  readonly sizeBytes: number
}

/**
 * Keeps the content of an archive while it is inspected, in a single unlinked file. So names from an archive never reach
 * the file system, and nothing is left after a kill. Small files are written together, and read together if they follow
 * each other.
 */
export class Scratch {
  readonly #file: FileHandle
  #end = 0
  /** Bytes at the end that are not written yet. */
  #pending = Buffer.alloc(0)
  #pendingBytes = 0
  /** The bytes of the last read. */
  #window = Buffer.alloc(0)
  #windowStart = 0
  #lastEnd = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<Scratch> {
    const file = await open(path, 'wx+', 0o600)
    await unlink(path)
    return new Scratch(file)
  }

  async append(content: AsyncIterable<Uint8Array>): Promise<Extent> {
    const start = this.#end
    for await (const chunk of content) {
      if (this.#pendingBytes + chunk.length > chunkBytes) await this.#flush()
      if (chunk.length >= chunkBytes) await this.#write(chunk, this.#end)
      else this.#keep(chunk)
      this.#end += chunk.length
    }
    return { start, sizeBytes: this.#end - start }
  }

  async *read({ start, sizeBytes }: Extent): AsyncGenerator<Buffer> {
    await this.#flush()
    for (let at = 0; at < sizeBytes; ) {
      const chunk = await this.#readAt(start + at, Math.min(chunkBytes, sizeBytes - at))
      yield chunk
      at += chunk.length
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  #keep(chunk: Uint8Array): void {
    if (this.#pending.length === 0) this.#pending = Buffer.allocUnsafe(chunkBytes)
    this.#pending.set(chunk, this.#pendingBytes)
    this.#pendingBytes += chunk.length
  }

  async #flush(): Promise<void> {
    if (this.#pendingBytes === 0) return
    const bytes = this.#pending.subarray(0, this.#pendingBytes)
    this.#pendingBytes = 0
    await this.#write(bytes, this.#end - bytes.length)
  }

  async #write(bytes: Uint8Array, at: number): Promise<void> {
    for (let written = 0; written < bytes.length; ) {
      const left = bytes.length - written
      const { bytesWritten } = await this.#file.write(bytes, written, left, at + written)
      written += bytesWritten
    }
  }

  /** @returns a view that does not change later */
  async #readAt(start: number, length: number): Promise<Buffer> {
    const inWindow = start - this.#windowStart
    const follows = start === this.#lastEnd
    this.#lastEnd = start + length
    if (inWindow >= 0 && inWindow + length <= this.#window.length) {
      return this.#window.subarray(inWindow, inWindow + length)
    }
    // If files are read in another order than they were written, reading ahead is useless.
    const wanted = follows ? Math.min(chunkBytes, this.#end - start) : length
    const buffer = Buffer.allocUnsafeSlow(Math.max(wanted, length))
    const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, start)
    if (bytesRead < length) throw new Error('the scratch file was cut')
    this.#windowStart = start
    this.#window = buffer.subarray(0, bytesRead)
    return this.#window.subarray(0, length)
  }
}
