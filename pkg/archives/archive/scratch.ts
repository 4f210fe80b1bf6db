import { type FileHandle, open, unlink } from 'node:fs/promises'

const chunkBytes = 256 * 1024

/** Part of the scratch file. */
export interface Extent {
  readonly start: number
  readonly sizeBytes: number
}

/**
 * Keeps the content of an archive in a single unlinked file while it is inspected. So names from an archive never reach the
 * file system, and nothing is left after a kill. Small files are written together, because a module may have thousands.
 */
export class Scratch {
  readonly #file: FileHandle
  #end = 0
  /** Bytes at the end that are not written yet. */
  readonly #pending = Buffer.allocUnsafeSlow(chunkBytes)
  #pendingBytes = 0

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
      if (chunk.length > chunkBytes) await this.#file.appendFile(chunk)
      else {
        this.#pending.set(chunk, this.#pendingBytes)
        this.#pendingBytes += chunk.length
      }
      this.#end += chunk.length
    }
    return { start, sizeBytes: this.#end - start }
  }

  async *read({ start, sizeBytes }: Extent): AsyncGenerator<Buffer> {
    await this.#flush()
    for (let at = 0; at < sizeBytes; ) {
      const buffer = Buffer.allocUnsafe(Math.min(chunkBytes, sizeBytes - at))
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, start + at)
      if (bytesRead === 0) throw new Error('the scratch file was cut')
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }

  async #flush(): Promise<void> {
    if (this.#pendingBytes === 0) return
    await this.#file.appendFile(this.#pending.subarray(0, this.#pendingBytes))
    this.#pendingBytes = 0
  }
}
