import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { type ReasonOf, RegistryError } from '../../base/errors/errors.ts'

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

/** The reason why sending an archive was aborted; the label `reason` of `archive_aborts_total`. */
export type AbortReason = ReasonOf<
  'ChecksumMismatch' | 'Truncated' | 'ClientGone' | 'StorageFailed'
>

/** The expected size and digest of a body, and callbacks for its end. */
interface Expected {
  /** Size of this body, which may be a part of an archive. */
  readonly sizeBytes: number
  /** Hexadecimal; undefined if the bytes need not be checked. */
  readonly sha256?: string | undefined
  readonly onEnd?: () => void
  readonly onAbort?: (reason: AbortReason, error: unknown) => void
}

/**
 * Passes a body on as it arrives, but holds back the last chunk until length and digest are checked. If they are wrong,
 * reading fails, and the caller, who promised `sizeBytes` bytes, must abort the connection. So no client gets a whole
 * archive with another digest. An empty body has no last chunk, so check its digest before.
 */
export function checkedBody(
  body: ByteSource,
  { sizeBytes, sha256, onEnd, onAbort }: Expected,
): ByteSource {
  const hash = sha256 === undefined ? undefined : createHash('sha256')
  let seenBytes = 0
  let over = false
  let reason: AbortReason = 'StorageFailed'

  async function next(): Promise<Uint8Array | undefined> {
    const chunk = await body.read()
    if (chunk === undefined) {
      if (seenBytes === sizeBytes) return undefined
      reason = 'Truncated'
      throw badGateway('the archive in storage ends too early')
    }
    seenBytes += chunk.byteLength
    if (seenBytes > sizeBytes) throw grown()
    hash?.update(chunk)
    if (seenBytes === sizeBytes) await checkEnd()
    return chunk
  }

  async function checkEnd(): Promise<void> {
    if (hash !== undefined && hash.digest('hex') !== sha256) {
      reason = 'ChecksumMismatch'
      throw mismatch()
    }
    if ((await body.read()) !== undefined) throw grown()
  }

  return {
    async read() {
      if (over) return undefined
      try {
        const chunk = await next()
        if (seenBytes === sizeBytes && !over) {
          over = true
          onEnd?.()
        }
        return chunk
      } catch (error) {
        // The previous chunk may still be in use. The reader closes the body.
        if (!over) onAbort?.(reason, error)
        over = true
        throw error
      }
    },
    close() {
      if (!over) onAbort?.('ClientGone', undefined)
      over = true
      body.close()
    },
  }
}

/** The error for an archive with another digest. */
export function mismatch(): RegistryError {
  return badGateway('the archive in storage does not match its checksum; tell its owner')
}

const grown = () => badGateway('the archive in storage grew while it was read')

const badGateway = (message: string) => new RegistryError('BadGateway', message)

/** A source without its first bytes, which it reads and discards. */
export function skipping(source: ByteSource, bytes: number): ByteSource {
  let left = bytes
  return {
    async read() {
      for (;;) {
        const chunk = await source.read()
        if (chunk === undefined || left === 0) return chunk
        const rest = chunk.subarray(Math.min(left, chunk.length))
        left -= chunk.length - rest.length
        if (rest.length > 0) return rest
      }
    },
    close: () => source.close(),
  }
}
