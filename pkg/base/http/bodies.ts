import type { Readable } from 'node:stream'
import { RegistryError } from '../errors/errors.ts'

/** Number of chunks that are joined at a time, because a chunk takes more memory than its bytes. */
const joinedPieces = 1024

/**
 * Reads a whole body.
 *
 * @throws RegistryError TooLarge above the limit; this closes the connection
 */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let waiting: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) {
        throw new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
      }
      waiting.push(chunk)
      if (waiting.length < joinedPieces) continue
      chunks.push(Buffer.concat(waiting))
      waiting = []
    }
  } finally {
    discard(body)
  }
  return Buffer.concat([...chunks, ...waiting])
}

/** Drops a body, and its connection if bytes are left. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy()
}
