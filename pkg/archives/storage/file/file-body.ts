import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { unavailable } from '../../../base/errors/errors.ts'
import { withDeadline } from '../../../base/pacing/pacing.ts'
import { type ByteSource, chunkBuffers, noAnswer, release } from '../../spool/spool.ts'
import type { ByteRange } from '../driver.ts'
import { fileError } from './file-error.ts'

const readDeadlineMs = 30_000

/**
 * Part of an open file. Closes the file when everything has been read, on an error and on `close()`. Returns its buffers only on
 * `close()`.
 *
 * The last chunk is given only if the file has not changed since it was opened.
 */
export class FileSource implements ByteSource {
  readonly #file: FileHandle
  readonly #opened: BigIntStats
  readonly #end: number
  #position: number
  #first: Uint8Array | undefined
  /** Two, used alternately. */
  readonly #buffers: Buffer[] = []
  #turn = 0
  #reading: Promise<unknown> | undefined
  #closed = false

  private constructor(file: FileHandle, opened: BigIntStats, { start, end }: ByteRange) {
    this.#file = file
    this.#opened = opened
    this.#position = start
    this.#end = end
  }

  /**
   * Reads the first chunk. An archive of one chunk is read, and its file closed, before it is asked for.
   *
   * @throws RegistryError
   */
  static async open(file: FileHandle, opened: BigIntStats, range: ByteRange): Promise<FileSource> {
    const source = new FileSource(file, opened, range)
    try {
      source.#first = await source.#next()
      return source
    } catch (error) {
      source.close()
      throw error
    }
  }

  async read(): Promise<Uint8Array | undefined> {
    const first = this.#first
    this.#first = undefined
    return first ?? this.#next()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    release(this.#file)
    const recycle = () => {
      for (const buffer of this.#buffers.splice(0)) chunkBuffers.giveBack(buffer)
    }
    // A read that is in progress still writes into its buffer.
    if (this.#reading === undefined) recycle()
    else this.#reading.then(recycle, recycle)
  }

  async #next(): Promise<Uint8Array | undefined> {
    if (this.#closed || this.#position > this.#end) return undefined
    const wantedBytes = this.#end + 1 - this.#position
    this.#buffers[this.#turn] ??= chunkBuffers.take(wantedBytes)
    const buffer = this.#buffers[this.#turn] as Buffer
    this.#turn ^= 1
    const reading = this.#fill(buffer, Math.min(buffer.length, wantedBytes))
    this.#reading = reading
    try {
      const bytesRead = await withDeadline(reading, readDeadlineMs, noAnswer)
      this.#reading = undefined
      if (bytesRead > 0) return buffer.subarray(0, bytesRead)
      release(this.#file)
      return undefined
    } catch (error) {
      release(this.#file)
      throw fileError(error)
    }
  }

  async #fill(buffer: Buffer, length: number): Promise<number> {
    const { bytesRead } = await this.#file.read(buffer, 0, length, this.#position)
    this.#position += bytesRead
    if (this.#position > this.#end) {
      checkUnchanged(this.#opened, await this.#file.stat({ bigint: true }))
      release(this.#file)
    }
    return bytesRead
  }
}

/** The number of links may change: a file that was deleted or replaced while it is read is still the same file. */
function checkUnchanged(opened: BigIntStats, now: BigIntStats): void {
  const sameContent = now.size === opened.size && now.mtimeNs === opened.mtimeNs
  const sameFile = now.ctimeNs === opened.ctimeNs || now.nlink !== opened.nlink
  if (!sameContent || !sameFile) throw unavailable('the archive changed while it was read')
}
