import type { FileHandle } from 'node:fs/promises'
import { damagedZip } from './archive-error.ts'

const windowBytes = 256 * 1024

/** Reads a file from beginning to end, in small adjacent pieces. */
export class FileWindow {
  readonly #file: FileHandle
  #start = 0
  #bytes = Buffer.alloc(0)

  constructor(file: FileHandle) {
    this.#file = file
  }

  /**
   * @returns a view that does not change later
   * @throws ArchiveError if the file is too short
   */
  async read(start: number, length: number): Promise<Buffer> {
    const at = start - this.#start
    if (at >= 0 && at + length <= this.#bytes.length) return this.#bytes.subarray(at, at + length)
    const wanted = Math.max(length, windowBytes)
    const { buffer, bytesRead } = await this.#file.read(Buffer.alloc(wanted), 0, wanted, start)
    if (bytesRead < length) throw damagedZip('it ends too early')
    this.#start = start
    this.#bytes = buffer.subarray(0, bytesRead)
    return this.#bytes.subarray(0, length)
  }
}
