import type { Readable } from 'node:stream'
import { RegistryError } from '../errors/errors.ts'

/**
 * The whole of a body.
 *
 * @throws RegistryError TooLarge beyond the bound; the connection is given up then
 */
export async function readBounded(body: Readable, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let bytes = 0
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > maxBytes) {
        throw new RegistryError('TooLarge', `the body is larger than ${maxBytes} bytes`)
      }
      chunks.push(chunk)
    }
  } finally {
    discard(body)
  }
  return Buffer.concat(chunks)
}

/** Gives up a body, and its connection with it where bytes are left. */
export function discard(body: Readable): void {
  body.on('error', () => undefined).destroy()
}
