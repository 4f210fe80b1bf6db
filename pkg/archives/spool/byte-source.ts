import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/**
 * Bytes that are read on demand, so that a slow reader costs no memory. Not a stream of Node, because streams cannot reuse
 * a buffer: at hundreds of MB a second most memory of the process would be garbage.
 */
export interface ByteSource {
  /**
   * The next bytes, or undefined at the end; one call at a time. A chunk stays valid until the second next call or
   * `close()`: one chunk can be written while the next is read.
   *
   * @throws RegistryError when the backend fails or the object changes; the reader has to notice an early end
   */
  read(): Promise<Uint8Array | undefined>
  /** Releases buffers and connections. Must be called in the end, after an error too. May be called twice. */
  close(): void
}

/** The chunks of a source, which is closed in the end. */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await source.read(); chunk !== undefined; chunk = await source.read()) {
      yield chunk
    }
  } finally {
    source.close()
  }
}

/** The digest of all bytes of a source, which is closed then, in lower-case hexadecimal. */
export async function sha256Of(source: ByteSource, signal?: AbortSignal): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of chunksOf(source)) {
    signal?.throwIfAborted()
    hash.update(chunk)
  }
  return hash.digest('hex')
}

/** Message of a read that timed out. */
export const noAnswer = 'the archive storage does not answer'

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

/** Closes a file after pending reads. Does not wait for them, because they may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}
