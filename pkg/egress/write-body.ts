import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { discard } from '../http/http.ts'
import { EgressError } from './errors.ts'

/**
 * Writes a body to a new file and hashes it on the way.
 *
 * @throws EgressError TooLarge, DiskFailed; any Error of the body
 */
export async function writeBody(
  body: Readable,
  path: string,
  maxBytes: number,
): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  try {
    const file = await onDisk(open(path, 'wx', 0o600))
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        sizeBytes += chunk.length
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
        digest.update(chunk)
        await onDisk(file.writeFile(chunk))
      }
    } finally {
      await file.close()
    }
  } finally {
    discard(body)
  }
  return { sizeBytes, sha256: digest.digest('hex') }
}

export function tooLarge(maxBytes: number): EgressError {
  return new EgressError('TooLarge', `the upstream's answer has more than ${maxBytes} bytes`)
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new EgressError('DiskFailed', `a spool file cannot be written (${code})`, { cause })
  }
}
