import { createHash } from 'node:crypto'
import { RegistryError } from '../errors/errors.ts'

/** Why the body of an archive was broken off; the `reason` of `archive_aborts_total`. */
export type AbortReason = 'checksum' | 'truncated' | 'client' | 'backend'

/** What a body must be, and who is told how it went. */
export interface Expected {
  /** Of this body, which may be a part of an archive. */
  readonly sizeBytes: number
  /** Hexadecimal; not given where the bytes need not be checked. */
  readonly sha256?: string | undefined
  readonly onChunk: (sizeBytes: number) => void
  readonly onEnd: () => void
  readonly onAbort: (reason: AbortReason, error: unknown) => void
}

/**
 * Passes a body on as it comes, except for its last chunk, which waits until length and digest are known to be right.
 * If they are not, the stream errors, so that whoever promised `sizeBytes` bytes must break the connection: nobody gets
 * a whole archive that is not the one of the digest. An empty body has no last chunk: check its digest before.
 */
export function checkedBody(
  body: ReadableStream<Uint8Array>,
  { sizeBytes, sha256, onChunk, onEnd, onAbort }: Expected,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  const hash = sha256 === undefined ? undefined : createHash('sha256')
  let seenBytes = 0
  let givenBytes = 0
  let held: Uint8Array | undefined
  let reason: AbortReason = 'backend'

  function give(controller: ReadableStreamDefaultController<Uint8Array>, chunk: Uint8Array): void {
    givenBytes += chunk.byteLength
    controller.enqueue(chunk)
    onChunk(chunk.byteLength)
  }

  /** The chunk that can be given away after this one came; the one before it while there is a hash. */
  function take(chunk: Uint8Array): Uint8Array | undefined {
    seenBytes += chunk.byteLength
    if (seenBytes > sizeBytes) throw badGateway('the archive in storage grew while it was read')
    if (hash === undefined || chunk.byteLength === 0) return chunk
    hash.update(chunk)
    const ready = held
    held = chunk
    return ready
  }

  function checkEnd(): void {
    if (seenBytes < sizeBytes) {
      reason = 'truncated'
      throw badGateway('the archive in storage ends too early')
    }
    if (hash !== undefined && hash.digest('hex') !== sha256) {
      reason = 'checksum'
      throw mismatch()
    }
  }

  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          for (;;) {
            const { done, value } = await reader.read()
            if (done) break
            const chunk = take(value)
            if (chunk?.byteLength) return give(controller, chunk)
          }
          checkEnd()
          if (held) give(controller, held)
          controller.close()
          onEnd()
        } catch (error) {
          reader.cancel().catch(() => {})
          onAbort(reason, error)
          throw error
        }
      },
      async cancel(why) {
        if (givenBytes < sizeBytes) onAbort('client', why)
        await reader.cancel(why)
      },
    },
    { highWaterMark: 0 },
  )
}

/** The error of an archive that is not the one of its digest. */
export function mismatch(): RegistryError {
  return badGateway('the archive in storage does not match its checksum; tell its owner')
}

const badGateway = (message: string) => new RegistryError('BadGateway', message)
