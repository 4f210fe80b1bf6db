import type { BigIntStats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'
import { unavailable, withDeadline } from './deadline.ts'
import type { ByteRange } from './driver.ts'
import { fileError } from './file-error.ts'

/** Measured: larger chunks are hardly faster through a socket, and every download holds up to three of them. */
const chunkBytes = 256 * 1024
const readDeadlineMs = 30_000

/**
 * Streams part of an open file, and closes the file at the end, on an error and on `cancel()`. One chunk is read ahead:
 * an archive of one chunk is read, and its file closed, before anyone asks for it.
 *
 * The last chunk is given away only if the file is still what it was when it was opened.
 *
 * @throws whatever reading the first chunk throws; the file is left open then
 */
export async function streamFile(
  file: FileHandle,
  opened: BigIntStats,
  { start, end }: ByteRange,
): Promise<ReadableStream<Uint8Array>> {
  let position = start

  /** The next chunk; nothing at the end of the range, and where the file ends early. */
  async function read(): Promise<Uint8Array | undefined> {
    const buffer = Buffer.allocUnsafeSlow(Math.min(chunkBytes, end + 1 - position))
    if (buffer.length === 0) return undefined
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position)
    position += bytesRead
    if (position > end) {
      checkUnchanged(opened, await file.stat({ bigint: true }))
      release(file)
    }
    return bytesRead === 0 ? undefined : buffer.subarray(0, bytesRead)
  }

  const readInTime = () => withDeadline(read(), readDeadlineMs)
  const first = await readInTime()
  if (first === undefined) release(file)
  let next: Promise<Uint8Array | undefined> = Promise.resolve(first)

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const chunk = await next
          if (chunk === undefined) {
            release(file)
            return controller.close()
          }
          controller.enqueue(chunk)
          if (position > end) return controller.close()
          next = readInTime()
          next.catch(() => {})
        } catch (error) {
          release(file)
          throw fileError(error)
        }
      },
      cancel: () => release(file),
    },
    { highWaterMark: 0 },
  )
}

/** Closes a file, once what it is reading has ended; nobody waits for that, because it may hang. */
export function release(file: FileHandle): void {
  file.close().catch(() => {})
}

/** A file that was deleted or replaced by another while it is read is still the same file, so its links may change. */
function checkUnchanged(opened: BigIntStats, now: BigIntStats): void {
  const sameContent = now.size === opened.size && now.mtimeNs === opened.mtimeNs
  const sameFile = now.ctimeNs === opened.ctimeNs || now.nlink !== opened.nlink
  if (!sameContent || !sameFile) throw unavailable('the archive changed while it was read')
}
