import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'

/**
 * Bytes that are read on demand, so that a slow reader costs no memory. It is not a stream of Node, because streams cannot
 * reuse a buffer: at hundreds of MB a second, most memory of the process would be garbage.
 */
export interface ByteSource {
  /**
   * Reads the next bytes; undefined at the end. Call it once at a time. A chunk is valid until the second next call or
   * `close()`, so that one chunk can be written while the next is read.
   *
   * @throws RegistryError if the backend fails or the object changes; readers must treat it as an early end
   */
  read(): Promise<Uint8Array | undefined>
  /** Releases buffers and connections. Call it at the end, even after an error. It may be called twice. */
  close(): void
}

/** Iterates over the chunks of a source, and closes it at the end. */
export async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  try {
    for (let chunk = await source.read(); chunk !== undefined; chunk = await source.read()) {
      yield chunk
    }
  } finally {
    source.close()
  }
}

/** Reads a source to its end and closes it. Returns the digest in lower-case hexadecimal. */
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
 * The buffers that files are read into. They are reused. A few downloads are fastest with large buffers. If many run at once,
 * further downloads get small ones, so that the total stays small.
 */
class ChunkBuffers {
  readonly #large: Buffer[] = []
  readonly #small: Buffer[] = []
  #largeInUse = 0

  /** @param wantedBytes number of bytes to read; the buffer may be smaller, and is not much larger */
  take(wantedBytes: number): Buffer {
    if (wantedBytes <= smallBytes || this.#largeInUse >= keptLarge) {
      return this.#small.pop() ?? Buffer.allocUnsafeSlow(smallBytes)
    }
    this.#largeInUse += 1
    return this.#large.pop() ?? Buffer.allocUnsafeSlow(largeBytes)
  }

  /** Call it when nothing writes into the buffer or reads from it any more. */
  giveBack(buffer: Buffer): void {
    if (buffer.length === largeBytes) {
      this.#largeInUse -= 1
      this.#large.push(buffer)
    } else if (this.#small.length < keptSmall) {
      this.#small.push(buffer)
    }
  }
}

/** One pool for the whole process. */
export const chunkBuffers = new ChunkBuffers()

/** Closes a file after pending reads. Does not wait for them, because they may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}
