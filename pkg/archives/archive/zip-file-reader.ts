import type { Readable } from 'node:stream'
import { callbackify } from 'node:util'
import { RandomAccessReader } from 'yauzl'
import { Turns } from '../../base/pacing/pacing.ts'
import type { FileWindow } from './file-window.ts'

/** Reads the directory of a zip for yauzl in large pieces, instead of twice for every entry. */
export class ZipFileReader extends RandomAccessReader {
  readonly #window: FileWindow
  readonly #turns = new Turns()

  constructor(window: FileWindow) {
    super()
    this.#window = window
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    const into = buffer.subarray(offset, offset + length)
    callbackify(() => this.#copy(into, position))(callback)
  }

  /** yauzl streams only contents, which are read elsewhere. */
  override _readStreamForRange(): Readable {
    throw new Error('no content of a zip is read through here')
  }

  override close(callback: (error: Error | null) => void): void {
    callback(null)
  }

  async #copy(into: Buffer, position: number): Promise<void> {
    into.set(await this.#window.read(position, into.length))
    await this.#turns.yieldIfDue()
  }
}
