import type { FileHandle } from 'node:fs/promises'
import { damagedZip } from './archive-error.ts'

const windowBytes = 256 * 1024

/** A file that is read from its beginning to its end, in small pieces that lie beside each other. */
export class FileWindow {
  readonly #file: FileHandle
  #start = 0
  #bytes = Buffer.alloc(0)

  constructor(file: FileHandle) {
    this.#file = file
  }

  /**
   * @returns a view that stays as it is
   * @throws ArchiveError where the file ends before
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
