import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { discard } from '../../base/http/http.ts'
import { EgressError } from './client.ts'

const writtenBytes = 64 * 1024
const defaultWindowMs = 60_000
/** A download of 100 MiB within half an hour is seven times as fast. */
const leastBytesPerMs = 8

/**
 * Writes a body to a new file and hashes it on the way.
 *
 * @param windowMs how long a body may bring less than 8 bytes a millisecond. Default: 60 s
 * @throws EgressError TooLarge, DiskFailed, Timeout; errors of the body
 */
export async function writeBody(
  body: Readable,
  path: string,
  maxBytes: number,
  windowMs = defaultWindowMs,
): Promise<{ readonly sizeBytes: number; readonly sha256: string }> {
  const digest = createHash('sha256')
  let sizeBytes = 0
  const stopWatching = watchRate(body, windowMs, () => sizeBytes)
  try {
    const file = await onDisk(open(path, 'wx', 0o600))
    let waiting: Buffer[] = []
    let waitingBytes = 0
    const write = async () => {
      const [first] = waiting
      const all = waiting.length === 1 ? first : Buffer.concat(waiting)
      waiting = []
      waitingBytes = 0
      if (all !== undefined) await onDisk(file.writeFile(all))
    }
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        sizeBytes += chunk.length
        if (sizeBytes > maxBytes) throw tooLarge(maxBytes)
        digest.update(chunk)
        waiting.push(chunk)
        waitingBytes += chunk.length
        if (waitingBytes >= writtenBytes) await write()
      }
      await write()
    } finally {
      await file.close()
    }
  } finally {
    stopWatching()
    discard(body)
  }
  return { sizeBytes, sha256: digest.digest('hex') }
}

/** Aborts a body that is so slow that it would hold a worker and its room in the spool for half an hour. */
function watchRate(body: Readable, windowMs: number, read: () => number): () => void {
  let before = 0
  const timer = setInterval(() => {
    const bytes = read() - before
    before += bytes
    if (bytes >= windowMs * leastBytesPerMs) return
    const rate = `less than ${leastBytesPerMs} kB a second`
    body.destroy(new EgressError('Timeout', `the upstream sends ${rate}`))
  }, windowMs)
  return () => clearInterval(timer)
}

export function tooLarge(maxBytes: number): EgressError {
  return new EgressError('TooLarge', `the upstream's answer is larger than ${maxBytes} bytes`)
}

async function onDisk<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    throw new EgressError(
      'DiskFailed',
      `a file in --spool-dir cannot be written (${code}): free space there, or name another folder`,
      { cause },
    )
  }
}
