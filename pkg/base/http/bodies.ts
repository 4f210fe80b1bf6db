import type { Readable } from 'node:stream'
import { RegistryError } from '../errors/errors.ts'

/** Pieces that wait to become one: each costs more memory than it has bytes. */
const joinedPieces = 1024

/**
 * The whole of a body.
 *
 * @throws RegistryError TooLarge beyond the bound; the connection is given up then
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

/** Gives up a body, and its connection with it where bytes are left. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy()
}
