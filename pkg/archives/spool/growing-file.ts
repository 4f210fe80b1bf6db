import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { hasReason, ReasonError, unavailable } from '../../base/errors/errors.ts'
import { withDeadline } from '../../base/pacing/pacing.ts'
import { type ByteSource, chunkBuffers, noAnswer, release } from './byte-source.ts'

/** How long a follower waits for the next bytes. The source itself times out before. */
const progressDeadlineMs = 120_000

/**
 * A source that is copied into a growing file. Any number of readers follow it at their own pace. The source holds back its
 * last chunk until the digest is verified, so no follower ever gets the last byte of a wrong archive.
 */
export class GrowingFile {
  readonly sizeBytes: number
  /** Resolves to the attributes of the file when it is complete, verified and moved to its final path. */
  readonly done: Promise<BigIntStats>
  readonly #file: FileHandle
  #writtenBytes = 0
  /** The attributes of the file after the last write. */
  #complete: BigIntStats | undefined
  #over = false
  #failure: unknown
  #followers = 0
  #progress = Promise.withResolvers<void>()

  /**
   * @param source checked; closed at the end. The file is closed after its last reader.
   * @param keep moves the complete file to its final path
   */
  constructor(source: ByteSource, file: FileHandle, sizeBytes: number, keep: () => Promise<void>) {
    this.sizeBytes = sizeBytes
    this.#file = file
    this.done = this.#run(source, keep)
    this.done.catch(() => {})
  }

  async #run(source: ByteSource, keep: () => Promise<void>): Promise<BigIntStats> {
    try {
      for (;;) {
        const chunk = await source.read()
        if (chunk === undefined) break
        await this.#write(chunk)
        if (this.#writtenBytes === this.sizeBytes) {
          this.#complete = await this.#file.stat({ bigint: true })
        }
        this.#notify()
      }
      await keep().catch((cause: unknown) => {
        throw new ReasonError('DiskFailed', 'cannot put a spooled file in its place', { cause })
      })
      return await this.#checkUntouched()
    } catch (error) {
      this.#failure = error
      throw error
    } finally {
      source.close()
      this.#over = true
      this.#notify()
      if (this.#followers === 0) release(this.#file)
    }
  }

  async #write(chunk: Uint8Array): Promise<void> {
    let given = 0
    while (given < chunk.length) {
      const left = chunk.length - given
      try {
        const { bytesWritten } = await this.#file.write(chunk, given, left, this.#writtenBytes)
        given += bytesWritten
        this.#writtenBytes += bytesWritten
      } catch (cause) {
        throw new ReasonError('DiskFailed', 'cannot write a spooled file', { cause })
      }
    }
  }

  /** Only this process may have written into the file. */
  async #checkUntouched(): Promise<BigIntStats> {
    const stats = await this.#file.stat({ bigint: true })
    const { mtimeNs, size } = stats
    if (mtimeNs === this.#complete?.mtimeNs && size === this.#complete.size) return stats
    throw unavailable('a spooled file changed while it was read')
  }

  #notify(): void {
    this.#progress.resolve()
    this.#progress = Promise.withResolvers<void>()
  }

  /**
   * Reads the archive from its first byte; undefined if the fetch has ended and the file is closed.
   *
   * @param instead opens the archive elsewhere, from the given byte, if the disk fails
   */
  follow(instead: (fromByte: number) => Promise<ByteSource>): ByteSource | undefined {
    if (this.#over && this.#followers === 0) return undefined
    const own = this.#open()
    let other: ByteSource | undefined
    let closed = false
    return {
      async read() {
        if (closed) return undefined
        if (other === undefined) {
          try {
            return await own.read()
          } catch (error) {
            if (!hasReason(error, 'DiskFailed')) throw error
            const opened = await instead(own.position)
            if (closed) opened.close()
            other = opened
          }
        }
        return other.read()
      },
      close() {
        if (closed) return
        closed = true
        other?.close()
        own.close()
      },
    }
  }

  /** The bytes of the file as they arrive. Close it once. */
  #open(): ByteSource & { readonly position: number } {
    this.#followers += 1
    const own: Buffer[] = []
    let turn = 0
    let position = 0
    let reading: Promise<unknown> | undefined
    let closed = false

    const arrived = async (): Promise<boolean> => {
      while (this.#writtenBytes <= position) {
        if (position === this.sizeBytes) return false
        if (this.#failure !== undefined) throw this.#failure
        if (this.#over || closed) return false
        await withDeadline(this.#progress.promise, progressDeadlineMs, noAnswer)
      }
      return !closed
    }

    const giveBack = () => {
      for (const buffer of own.splice(0)) chunkBuffers.giveBack(buffer)
      this.#followers -= 1
      if (this.#over && this.#followers === 0) release(this.#file)
    }

    return {
      get position() {
        return position
      },
      read: async () => {
        if (!(await arrived())) return undefined
        const wantedBytes = this.#writtenBytes - position
        own[turn] ??= chunkBuffers.take(this.sizeBytes - position)
        const buffer = own[turn] as Buffer
        turn ^= 1
        reading = this.#file.read(buffer, 0, Math.min(buffer.length, wantedBytes), position)
        const { bytesRead } = (await reading) as { bytesRead: number }
        reading = undefined
        if (bytesRead === 0) throw unavailable('a spooled file was cut short while it was read')
        position += bytesRead
        if (position === this.sizeBytes) await this.#checkUntouched()
        return buffer.subarray(0, bytesRead)
      },
      close() {
        closed = true
        if (reading === undefined) giveBack()
        else reading.then(giveBack, giveBack)
      },
    }
  }
}
