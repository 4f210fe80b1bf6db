import { type FileHandle, open, unlink } from 'node:fs/promises'

const chunkBytes = 256 * 1024

/** Part of the scratch file. */
export interface Extent {
  readonly start: number
  readonly sizeBytes: number
}

/**
 * Where the content of an archive is kept while it is looked at: one file after the other in a single file that has lost
 * its name already. So no name of an archive ever reaches the file system, and nothing is left after a kill.
 */
export class Scratch {
  readonly #file: FileHandle
  #end = 0

  private constructor(file: FileHandle) {
    this.#file = file
  }

  static async open(path: string): Promise<Scratch> {
    const file = await open(path, 'wx+', 0o600)
    await unlink(path)
    return new Scratch(file)
  }

  /** @param onChunk sees all bytes */
  async append(
    content: AsyncIterable<Uint8Array>,
    onChunk: (chunk: Uint8Array) => void,
  ): Promise<Extent> {
    const start = this.#end
    for await (const chunk of content) {
      onChunk(chunk)
      for (let written = 0; written < chunk.length; ) {
        const left = chunk.length - written
        const { bytesWritten } = await this.#file.write(chunk, written, left, this.#end)
        written += bytesWritten
        this.#end += bytesWritten
      }
    }
    return { start, sizeBytes: this.#end - start }
  }

  async *read({ start, sizeBytes }: Extent): AsyncGenerator<Buffer> {
    for (let at = 0; at < sizeBytes; ) {
      const length = Math.min(chunkBytes, sizeBytes - at)
      const buffer = Buffer.allocUnsafe(length)
      const { bytesRead } = await this.#file.read(buffer, 0, length, start + at)
      if (bytesRead === 0) throw new Error('the scratch file was cut')
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}
