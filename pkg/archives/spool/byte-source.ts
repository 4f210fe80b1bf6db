import { createHash } from 'node:crypto'

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
